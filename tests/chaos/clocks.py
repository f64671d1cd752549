"""Clocks of worker processes, not all to be trusted."""

from __future__ import annotations

import random
import time

import time_machine

from hanbeon.clock import SystemClock

_HOUR = 3600.0


class JumpingClock(SystemClock):
    """Its wall clock is another one each time it is read, hours behind or ahead."""

    def now_us(self) -> int:
        return super().now_us() + round(random.uniform(-12, 12) * _HOUR * 1_000_000)


class PausedClock(SystemClock):
    """A monotonic clock that stands still with its machine, as that of a virtual machine that is paused does.

    It grows by at most a tenth of a second between two readings, so that its owner never learns that it was frozen.
    """

    def __init__(self) -> None:
        self._read_at = super().monotonic()
        self._shown = 0.0

    def monotonic(self) -> float:
        read_at = super().monotonic()
        self._shown += min(0.1, read_at - self._read_at)
        self._read_at = read_at
        return self._shown


def travel() -> None:
    """From here on this process is a day ahead of the world, wherever it asks for the time."""
    time_machine.travel(time.time() + 24 * _HOUR).start()


CLOCKS = {"system": SystemClock, "jumping": JumpingClock, "paused": PausedClock}
