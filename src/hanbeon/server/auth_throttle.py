"""Counts what failed by address, within a minute and within a bounded memory."""

from __future__ import annotations

from collections import OrderedDict

from hanbeon.clock import Clock

MOST = 20
WINDOW_SECONDS = 60.0
_ADDRESSES = 10_000


class AuthThrottle:
    """How many invalid tokens came from where. Valid ones are never counted, nor held up by others' failures."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, address: str) -> float:
        """Count one more; the seconds until this address may fail again, 0 if it still may."""
        now = self._clock.monotonic()
        since, count = self._counts.pop(address, (now, 0))
        if now - since >= WINDOW_SECONDS:
            since, count = now, 0
        self._counts[address] = (since, count + 1)
        while len(self._counts) > _ADDRESSES:
            self._counts.popitem(last=False)
        return since + WINDOW_SECONDS - now if count >= MOST else 0.0
