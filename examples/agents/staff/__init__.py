"""The agents: small programs, each in a session of its own. They need only the standard library."""
