"""schemathesis against a running server: what the description allows and forbids, at random and in sequences."""
