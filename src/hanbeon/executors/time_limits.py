"""Time limits of killable work: how often its deadline is extended, and how long it takes to stop."""

from __future__ import annotations

from typing import NamedTuple

from hanbeon.settings import Settings


class TimeLimits(NamedTuple):
    grace: float
    """Between SIGTERM and SIGKILL."""
    tick: float
    """Between two extensions of the deadline while the lease holds."""
    stop: float
    """The longest that a stop may take in all."""


def time_limits(settings: Settings) -> TimeLimits:
    lease, grace = settings.lease, settings.grace
    return TimeLimits(grace, min(1.0, lease / 30), grace + min(0.5, lease / 20))
