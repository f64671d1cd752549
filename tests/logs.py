"""Logging configuration that ends with its test."""

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """Capturing logs configures structlog for the whole process, and leaves it so: the next test would hear nothing."""
    yield
    if structlog.is_configured():
        structlog.reset_defaults()
