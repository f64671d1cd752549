"""Snapshots of an installation, and the throughput between them."""

from __future__ import annotations

import datetime as dt
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from hanbeon.cli.source.source import Source
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.domain.statistics import QueueStatistics
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.queues import QueueRecord

_WINDOW_SECONDS = 300.0
_MAX_RUNNING = 200
_RATES_KEPT = 60


class Snapshot(NamedTuple):
    """The state of an installation at one moment. `name`: its database or server."""

    name: str
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


async def take_snapshot(source: Source) -> Snapshot:
    activity = await source.activity(_WINDOW_SECONDS)
    return Snapshot(
        source.name,
        source.zone,
        activity.now,
        activity.queues,
        await source.instances(),
        await source.running(_MAX_RUNNING),
    )


class Rates:
    """Jobs succeeded per second between one snapshot and the next, the latest last."""

    def __init__(self) -> None:
        self.values: deque[float] = deque(maxlen=_RATES_KEPT)
        self._previous: tuple[float, int] | None = None

    def add(self, snapshot: Snapshot) -> None:
        now, succeeded = time.monotonic(), snapshot.count(State.SUCCEEDED)
        if self._previous is not None:
            at, count = self._previous
            # Fewer than before: old jobs were pruned meanwhile.
            self.values.append(max(0, succeeded - count) / max(0.001, now - at))
        self._previous = now, succeeded
