"""What the view shows: one look at the database, and how it has changed since the looks before."""

from __future__ import annotations

import datetime as dt
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from hanbeon.app import App
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.domain.statistics import QueueStatistics
from hanbeon.settings import masked
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.queues import QueueRecord

_WINDOW_SECONDS = 300.0
_MOST_RUNNING = 200
_LOOKS_KEPT = 60


class Look(NamedTuple):
    """The database at one moment."""

    database: str
    zone: dt.tzinfo
    now: int
    queues: Sequence[tuple[QueueRecord, QueueStatistics]]
    instances: Sequence[InstanceRecord]
    running: Sequence[JobRecord]

    def count(self, state: State) -> int:
        return sum(numbers.states[state] for _, numbers in self.queues)

    @property
    def alive(self) -> list[InstanceRecord]:
        return [each for each in self.instances if each.alive]


async def look(app: App) -> Look:
    numbers = await app.statistics(window=_WINDOW_SECONDS)
    return Look(
        masked(app.settings.database_url),
        app.settings.zone,
        await app.store.now_us(),
        # A queue may have come between the two looks.
        [(queue, numbers[queue.name]) for queue in await app.queues() if queue.name in numbers],
        await app.instances(),
        await app.store.running(_MOST_RUNNING),
    )


class Rates:
    """How many jobs succeeded per second between one look and the next, the latest at the end."""

    def __init__(self) -> None:
        self.values: deque[float] = deque(maxlen=_LOOKS_KEPT)
        self._before: tuple[float, int] | None = None

    def note(self, seen: Look) -> None:
        now, succeeded = time.monotonic(), seen.count(State.SUCCEEDED)
        if self._before is not None:
            at, count = self._before
            # Fewer than before: old ones were deleted meanwhile.
            self.values.append(max(0, succeeded - count) / max(0.001, now - at))
        self._before = now, succeeded
