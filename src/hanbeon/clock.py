"""The two clocks of an instance: a wall clock, which only SQLite asks, and a monotonic one for leases and deadlines."""

from __future__ import annotations

import time
from typing import Protocol

MICROS = 1_000_000


class Clock(Protocol):
    """What the engine asks of time. PostgreSQL uses its own wall clock and never calls `now_us`."""

    def now_us(self) -> int:
        """The instant, in microseconds since 1970 UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never steps, suspended machines included where the host can say so."""
        ...


class SystemClock:
    """The host's clocks.

    CLOCK_BOOTTIME goes on while the machine sleeps, so that a laptop that wakes up knows its leases are gone.
    """

    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def monotonic(self) -> float:
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()


def micros(seconds: float) -> int:
    """Seconds as whole microseconds."""
    return round(seconds * MICROS)
