"""What offices send out: events to webhooks, and word of failures to people, as jobs of the engine."""
