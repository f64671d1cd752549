"""ready → running, as many as there are free slots."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial

from hanbeon.chance import chance
from hanbeon.clock import Clock, micros
from hanbeon.domain.job import Claimed
from hanbeon.engine.loop import AGAIN
from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.errors import DatabaseUnavailable
from hanbeon.logs import get_logger
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
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


_BATCH = 500
# A job may have arrived before the position where the last claim left off, and its hint may have been lost.
_POSITION_SECONDS = 1.0
_CLAIMS_OF_ALL_LANES = 2
"""The first claim after a hint may go by a guess; only the next one covers every lane."""

_ANSWER_SHARE = 0.5
"""Of the lease: after this long without an answer, enough of it is left to hand the jobs back."""


class Claimer:
    """Claims as many jobs as there are free slots, and starts them."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        *,
        tasks: Callable[[], Sequence[str]],
        slots: Callable[[], int],
        running: Callable[[], int],
        start: Callable[[Sequence[Claimed], float], None],
        unanswered: UnansweredClaims,
        queues: Sequence[str] | None = None,
    ) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self.tasks, self._slots, self._running, self._start = tasks, slots, running, start
        self.unanswered = unanswered
        self._queues = queues
        self._cursor = 0
        self._position: LanePosition | None = None
        self._position_until = 0.0
        self._last_lane: int | None = None
        self._guessed = False
        self._hinted = False
        self._claiming = asyncio.Lock()
        self.is_open = True
        self.draining = False
        """An operator has drained this worker: it claims nothing more."""
        self.instance = 0

    @property
    def has_room(self) -> bool:
        """False while it claims nothing: it is closed or drained, or has no free slot."""
        return self.is_open and not self.draining and self._slots() > self._running()

    def look_again(self) -> None:
        """Jobs have arrived: the next claim uses no remembered position, and the one after covers every lane."""
        self._position, self._hinted = None, True

    def _next_position(self, now: float) -> tuple[LanePosition | None, bool]:
        """Return where to claim without reading all lanes, and whether that is only a guess.

        New jobs are most often in the lane of the last ones, and trying it first saves a round trip. Others wait for no
        more than that: the next claim covers all lanes.
        """
        position, hinted = self._position, self._hinted
        self._position, self._hinted = None, False
        if hinted and self._last_lane is not None and not self._guessed:
            self._guessed = True
            return LanePosition.before_all(self._last_lane), True
        self._guessed = False
        if position is None or now >= self._position_until:
            self._position_until = now + _POSITION_SECONDS
            return None, False
        return position, False

    async def close(self) -> None:
        """Claim nothing more. Returns when the last claim is answered: its jobs would be stranded otherwise."""
        self.is_open = False
        async with self._claiming:
            with contextlib.suppress(DatabaseUnavailable):
                await self.unanswered.settle(at_once=True)

    async def close_if_idle(self) -> bool:
        """Claim once more, and close if there is nothing; return True if it is closed.

        Under one lock: jobs of a claim that began in between would be handed back, and might be left without a worker.
        """
        async with self._claiming:
            for _ in range(_CLAIMS_OF_ALL_LANES):
                if await self._claim() <= AGAIN:
                    return False
            self.is_open = bool(self._running())
            return not self.is_open

    def reopen(self) -> None:
        self.is_open = True

    @contextlib.asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """While active, no claim is under way, and none that follows uses remembered lanes.

        So the tasks may change meanwhile: a remembered lane may belong to a task that is gone.
        """
        async with self._claiming:
            try:
                yield
            finally:
                self._position = self._last_lane = None

    async def hand_back_unanswered(self) -> None:
        """Hand back the jobs of claims whose answer was lost, as far as it is time to ask for them."""
        if self.unanswered.pending:
            async with self._claiming:
                await self.unanswered.settle()

    async def run_once(self) -> float:
        async with self._claiming:
            return await self._claim()

    async def _claim(self) -> float:
        await self.unanswered.settle()
        free = min(_BATCH, self._slots() - self._running())
        tasks = self.tasks()
        if not self.has_room or not tasks:
            return self._settings.poll
        # The lease counts from before the claim is sent: by this clock it ends no later than by the database's.
        sent_at, began_at = self._clock.monotonic(), self._cursor
        position, guessed = self._next_position(sent_at)
        answer = await self._answer(
            ClaimRequest(
                self.instance, tasks, free, micros(self._settings.lease), self._cursor, position, self._queues
            ),
            sent_at + self._settings.lease * _ANSWER_SHARE,
        )
        self._cursor = answer.cursor
        if answer.place is not None:
            self._last_lane = answer.place.lane
        if answer.more and not guessed and not self._hinted:
            self._position = answer.place
        self._start(answer.jobs, sent_at)
        if answer.jobs or answer.cursor or began_at:
            return AGAIN
        return self._settings.poll * chance.uniform(0.8, 1.2)

    async def _answer(self, request: ClaimRequest, until: float) -> ClaimAnswer:
        """Claim, and remember that jobs may have been claimed if no answer comes while their leases last."""
        try:
            async with asyncio.timeout(max(0.0, until - self._clock.monotonic())):
                answer = await self._store.claim(request)
            # A process that stood still gets the answer first and its timer later; one that slept, no timer at all.
            if self._clock.monotonic() >= until:
                raise TimeoutError
            return answer
        except TimeoutError as error:
            self.unanswered.add(request.instance, request.tasks)
            raise DatabaseUnavailable(Rule("claim_not_answered")) from error
        except BaseException:
            self.unanswered.add(request.instance, request.tasks)
            raise
