"""Snapshots of an installation, and the throughput between them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from hanbeon.cli.installation import address_of
from hanbeon.cli.queues import read_queues
from hanbeon.domain.bounds import PAGE_ROWS
from hanbeon.domain.lifecycle import State
from hanbeon.surfaces.engine.schemas import EngineInstance, EngineJob, EngineQueue
from hanbeon.surfaces.installation import Installation

_WINDOW_SECONDS = 300
_MAX_RUNNING = 200
_RATES_KEPT = 60


class Snapshot(NamedTuple):
    """The state of an installation at one moment. `name`: its database or server."""

    name: str
    at: str
    queues: Sequence[EngineQueue]
    instances: Sequence[EngineInstance]
    running: Sequence[EngineJob]

    def count(self, state: State) -> int:
        return sum(queue.states[state] for queue in self.queues)

    @property
    def alive(self) -> list[EngineInstance]:
        return [each for each in self.instances if each.alive]


async def take_snapshot(installation: Installation) -> Snapshot:
    queues = await read_queues(installation, window=_WINDOW_SECONDS)
    instances = (await installation.engine.instances()).items
    running = (await installation.engine.jobs(state=[State.RUNNING], limit=PAGE_ROWS)).items
    longest = sorted(running, key=lambda job: job.started_at or job.created_at)[:_MAX_RUNNING]
    return Snapshot(address_of(installation), queues.at, queues.items, instances, longest)


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
