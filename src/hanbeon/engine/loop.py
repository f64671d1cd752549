"""The skeleton of every loop: a step, a bounded wait that a wake-up ends, back-off while the database is down."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from hanbeon.chance import chance
from hanbeon.errors import DatabaseUnavailable
from hanbeon.logs import get_logger

_log = get_logger("hanbeon.engine")
LONGEST_PAUSE = 5.0
AGAIN = 0.0
BETWEEN_TRIES = 0.05
"""The pause where something is due that another instance, or a second turn of this one's loop, takes at the moment.

Compared by identity: a pause that is as long by chance says nothing.
"""
_AFTER_BLOCKAGE_SECONDS = 0.1


def _never(since: float) -> bool:
    return False


class Loop:
    """Repeats `step`, which returns the seconds until the next one; a wake-up shortens that."""

    def __init__(self, name: str, step: Callable[[], Awaitable[float]], longest_pause: float = LONGEST_PAUSE) -> None:
        """`longest_pause` limits the back-off while the database is down."""
        self.name, self._longest_pause = name, longest_pause
        self.was_blocked: Callable[[float], bool] = _never
        """True if the event loop was blocked since a moment: then it is not the database that was late."""
        self.run_once = step
        self._wake = asyncio.Event()

    def wake(self) -> None:
        self._wake.set()

    async def run(self) -> None:
        """Run until cancelled."""
        failures = 0
        while True:
            self._wake.clear()
            began_at = time.monotonic()
            try:
                pause = await self.run_once()
                failures = 0
            except (DatabaseUnavailable, TimeoutError) as error:
                if self.was_blocked(began_at):
                    await asyncio.sleep(_AFTER_BLOCKAGE_SECONDS)
                    continue
                failures += 1
                pause = min(self._longest_pause, 0.1 * 2 ** min(failures, 8)) * chance.uniform(0.5, 1.0)
                _log.warning("database_unavailable", loop=self.name, error=str(error), retry_in=round(pause, 2))
                # Wake-ups come in bursts while a database comes back; the back-off ignores them.
                await asyncio.sleep(pause)
                continue
            except Exception:
                # A defect in one step must not end an instance that holds leases: log it as an error, and retry slowly.
                failures += 1
                pause = self._longest_pause
                _log.exception("loop_failed", loop=self.name)
            if pause <= AGAIN:
                await asyncio.sleep(0)
                continue
            # Not wait_for: in Python 3.11 it can swallow a cancellation that comes together with the wake-up.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
