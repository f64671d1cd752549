"""Deliveries of offices: webhooks and notifications."""
