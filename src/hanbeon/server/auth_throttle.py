"""Counts of failed authentication by address, over one minute and in bounded memory."""

from __future__ import annotations

from collections import OrderedDict

from hanbeon.clock import Clock

MOST = 20
WINDOW_SECONDS = 60.0
_ADDRESSES = 10_000


class AuthThrottle:
    """Counts invalid tokens by address. Valid tokens are neither counted nor blocked by the failures of others."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, address: str) -> float:
        """Count one failure and return the seconds until this address may fail again; 0 if it still may."""
        now = self._clock.monotonic()
        since, count = self._counts.pop(address, (now, 0))
        if now - since >= WINDOW_SECONDS:
            since, count = now, 0
        self._counts[address] = (since, count + 1)
        while len(self._counts) > _ADDRESSES:
            self._counts.popitem(last=False)
        return since + WINDOW_SECONDS - now if count >= MOST else 0.0
