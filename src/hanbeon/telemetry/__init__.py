"""Traces with OpenTelemetry. Nothing here is imported while tracing is off."""
