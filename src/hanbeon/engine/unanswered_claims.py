"""Claims that got no answer: jobs that this instance may hold without knowing it, and hands back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hanbeon.clock import Clock
from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations.complete import hand_back
from hanbeon.store.store import Store

_log = get_logger("hanbeon.engine")
_ASKS_A_LEASE = 10


class UnansweredClaims:
    """Asks the database what this instance is said to run, after a claim of one pool that was not answered.

    It may have committed, or may still do so: the server may be waiting for a disk or a standby. So the question is
    repeated for the time of a lease, after which a claim that had come too late would have expired. Only while no claim
    of the pool is under way: the jobs of that one are not known here yet, either.
    """

    def __init__(self, store: Store, settings: Settings, clock: Clock, attempts: RunningAttempts) -> None:
        self._store, self._clock, self._attempts = store, clock, attempts
        self._lease = settings.lease
        self._tasks: dict[int, set[str]] = {}
        self._until = 0.0
        self._ask_at = 0.0

    @property
    def pending(self) -> bool:
        """True while there may be such jobs."""
        return bool(self._tasks)

    @property
    def ask_seconds(self) -> float:
        return self._lease / _ASKS_A_LEASE

    def add(self, instance: int, tasks: Sequence[str]) -> None:
        """Remember a claim of this instance for these tasks."""
        self._tasks.setdefault(instance, set()).update(tasks)
        self._ask_at = self._clock.monotonic()
        self._until = self._ask_at + self._lease

    async def settle(self, *, at_once: bool = False) -> None:
        """Hand back what was claimed and never began, if it is time to ask for it."""
        asked_at = self._clock.monotonic()
        if not self.pending or (asked_at < self._ask_at and not at_once):
            return
        for instance, tasks in self._tasks.items():
            begun = self._attempts.begun()
            held, released = await self._store.write(
                partial(hand_back, lanes=self._store.lanes, instance=instance, tasks=tasks, begun=begun)
            )
            self._attempts.forget(instance, begun - held)
            for item in released:
                _log.warning("claim_unanswered", job=item.id, task=item.task, attempt=item.fence)
        self._ask_at = asked_at + self.ask_seconds
        if asked_at >= self._until:
            self._tasks.clear()
