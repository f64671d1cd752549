"""Ids of jobs, schedules and requests, made before they are written."""

from __future__ import annotations

from collections.abc import Callable

import uuid_utils

_make: Callable[[], object] = uuid_utils.uuid7


def new_id() -> str:
    """Return a UUID of version 7, which sorts by the time it was made."""
    return str(_make())


def replace(make: Callable[[], object]) -> None:
    """Make all ids of this process by `make`, for a simulation that repeats itself."""
    global _make  # noqa: PLW0603 - requests are made without an App, which could carry it
    _make = make
