"""How often work that can be killed is told that it may live, and how long it takes to stop."""

from __future__ import annotations

from typing import NamedTuple

from hanbeon.settings import Settings


class TimeLimits(NamedTuple):
    grace: float
    """Between SIGTERM and SIGKILL."""
    tick: float
    """Between two words to the keepers that the lease holds."""
    stop: float
    """How long a stop may take, all in all."""


def time_limits(settings: Settings) -> TimeLimits:
    lease, grace = settings.lease, settings.grace
    return TimeLimits(grace, min(1.0, lease / 30), grace + min(0.5, lease / 20))
