"""Pools: slots of a worker for the jobs of some tasks, claimed, counted and stopped apart from each other."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from hanbeon.clock import Clock
from hanbeon.domain.job import Claimed
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.claim import Claimer, UnansweredClaims
from hanbeon.engine.loop import AGAIN, Loop
from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.events.hub import Hub
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.tasks.registry import Tasks
from hanbeon.tasks.task import STREAM

_GATHER_EVENTS_SECONDS = 0.05
_LOOKED_AFTER_SECONDS = 60.0


class PoolRelay(Protocol):
    """Creates the jobs of a pool's tasks from events."""

    @property
    def listening(self) -> bool:
        """True while there may be such jobs soon; while it is False, the pool polls rarely."""
        ...

    @property
    def quiet_seconds(self) -> float:
        """The poll interval while nothing listens."""
        ...

    def look_again(self) -> None:
        """Check for new listeners at the next step."""
        ...

    async def run_once(self) -> float: ...


class TaskPool(NamedTuple):
    """A set of tasks with slots of its own: no other pool takes a slot from it, and it takes none from others."""

    name: str
    tasks: Tasks
    """Read at each claim, so a live view may change between two."""
    slots: int
    hints: Sequence[str]
    """The store's hints that announce work for this pool."""
    relay: PoolRelay | None = None
    listed: bool = False
    """The tasks are named among those of the instance, because not every worker has them."""
    queues: Sequence[str] | None = None
    """Claim from these queues only; None: from all."""
    gather_seconds: float = 0.0
    """How long a claim waits while jobs run, so that one claim fills the slots of several that end together."""


def run_here(tasks: Tasks) -> list[str]:
    """Return the tasks whose jobs are run by this instance, and not by stream workers."""
    return [name for name, task in tasks.items() if task.executor != STREAM]


class Pool:
    """A `TaskPool` at work: its claimer, and the attempts that take up its slots."""

    def __init__(
        self,
        spec: TaskPool,
        store: Store,
        settings: Settings,
        clock: Clock,
        begin: Callable[[Pool, Sequence[Claimed], float], None],
        attempts: RunningAttempts,
        claimable: Callable[[Tasks], list[str]] = list,
    ) -> None:
        """`claimable` leaves out those of the tasks whose jobs are not run here."""
        self.name, self.tasks, self.slots = spec.name, spec.tasks, spec.slots
        self.running: set[Attempt] = set()
        self.hints, self._relay, self._gather_seconds = spec.hints, spec.relay, spec.gather_seconds
        self.claimer = Claimer(
            store,
            settings,
            clock,
            tasks=lambda: claimable(self.tasks),
            slots=lambda: self.slots,
            running=lambda: len(self.running),
            start=lambda jobs, sent_at: begin(self, jobs, sent_at),
            unanswered=UnansweredClaims(store, settings, clock, attempts),
            queues=spec.queues,
        )
        self.claim = Loop(f"claim_{spec.name}", self._claim)
        self.relay = None if spec.relay is None else Loop(f"relay_{spec.name}", self._gather_and_relay)

        self.looked_after = False
        """Something else polls for its jobs, together with those of other pools, and wakes it."""

    @property
    def loops(self) -> list[Loop]:
        """The loops that bring work into this pool, in the order of the work."""
        return [self.claim] if self.relay is None else [self.relay, self.claim]

    @contextlib.contextmanager
    def listening(self, hub: Hub) -> Iterator[None]:
        """Wake the loops by the hints of other instances and transactions."""
        with contextlib.ExitStack() as hints:
            hints.enter_context(hub.calling(self.work_arrived, *self.hints))
            if self.relay is not None:
                hints.enter_context(hub.calling(self.relay.wake, "event"))
            yield

    def work_arrived(self) -> None:
        """Claim at once, from every lane; also relay, for a listener that is new may have caused the hint."""
        self.check_listeners()
        self.claimer.look_again()
        for each in self.loops:
            each.wake()

    def check_listeners(self) -> None:
        """Have the next relay step check for listeners, even if there were none lately."""
        if self._relay is not None:
            self._relay.look_again()

    def ended(self, attempts: Sequence[Attempt]) -> None:
        """Free the slots of those of these attempts that have one here."""
        self.running.difference_update(attempts)
        self.claim.wake()

    async def _claim(self) -> float:
        if self._gather_seconds and self.running:
            await asyncio.sleep(self._gather_seconds)
        pause = await self.claimer.run_once()
        if self.claimer.unanswered.pending:
            return min(pause, self.claimer.unanswered.ask_seconds)
        if pause > AGAIN and self._relay is not None and not self._relay.listening:
            return self._relay.quiet_seconds  # There can hardly be any job.
        if pause > AGAIN and self.looked_after:
            return max(pause, _LOOKED_AFTER_SECONDS)
        return pause

    async def _gather_and_relay(self) -> float:
        assert self._relay is not None
        if self._relay.listening:
            await asyncio.sleep(_GATHER_EVENTS_SECONDS)  # Hints come with every commit.
        return await self._relay.run_once()
