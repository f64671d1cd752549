"""Clocks for worker processes, some of them wrong on purpose."""

from __future__ import annotations

import random
import time

import time_machine

from hanbeon.clock import SystemClock

_HOUR = 3600.0


class JumpingClock(SystemClock):
    """A wall clock that is hours slow or fast, by another amount at each reading."""

    def now_us(self) -> int:
        return super().now_us() + round(random.uniform(-12, 12) * _HOUR * 1_000_000)


class PausedClock(SystemClock):
    """A monotonic clock that stops while its machine is paused, as that of a virtual machine does.

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
    """Put the clock of this process a day ahead, wherever it reads the time."""
    time_machine.travel(time.time() + 24 * _HOUR).start()


CLOCKS = {"system": SystemClock, "jumping": JumpingClock, "paused": PausedClock}
