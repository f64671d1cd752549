"""The part of a transaction that is the same on both databases: the events and hints that gather until its commit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from hanbeon.domain.events import Event
from hanbeon.store.operations.events import write_events
from hanbeon.store.tx import AfterCommit, Copy, FastSteps, TraceScope, check_announced


class TxBase(ABC):
    """See `Tx`."""

    tracing: TraceScope | None = None
    fast: FastSteps | None = None
    has_round_trips: bool

    def __init__(self, seconds: float = math.inf) -> None:
        """`seconds`: how long it was announced to take; one that cannot be begun again may take any time."""
        self._seconds = seconds
        self._events: list[Event] = []
        self._moves = 0
        self.after = AfterCommit()

    @property
    @abstractmethod
    def copy(self) -> Copy | None: ...

    @abstractmethod
    async def fetch(self, name: str, *args: Any) -> Sequence[Any]: ...

    def emit(self, *events: Event) -> None:
        self._events.extend(events)

    def count_moves(self, count: int) -> None:
        self._moves += count

    @property
    def moves(self) -> int:
        return self._moves + sum(event.job_id is not None for event in self._events)

    def expect(self, jobs: int) -> None:
        check_announced(jobs, self._seconds)

    def wake(self, *hints: str) -> None:
        self.after.hints.update(hints)

    def after_commit(self, callback: Callable[[], None]) -> None:
        self.after.callbacks.append(callback)

    async def write_events(self) -> None:
        if self._events:
            await write_events(self, self._events)
            self.after.hints.add("event")
