"""The agents: small programs, each in a session of its own. The standard library is all they need."""
