"""Messages of offices: events to webhooks and notifications of failures to people, sent as jobs of the engine."""
