"""The attempts this instance runs: their leases, their shutdown, and the guard that stops them without the database."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Iterable, Iterator

from hanbeon.clock import MICROS, Clock, micros
from hanbeon.engine.attempt import Attempt
from hanbeon.errors import DatabaseUnavailable
from hanbeon.executors.executor import StopCause
from hanbeon.guarded_task import guarded_task
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations import lease as lease_rows
from hanbeon.store.operations.lease import Lease, LeaseFacts, note_overdue, renew
from hanbeon.store.store import Store

_log = get_logger("hanbeon.engine")
_NOTE_SECONDS = 5.0
_REMEMBERED_AT_MOST = 100_000
_ESCALATE_SECONDS = 300.0


class RunningAttempts:
    """The attempts that run on this instance now."""

    def __init__(self, store: Store, clock: Clock, *, idle_seconds: float, grace_seconds: float = 5.0) -> None:
        """`grace_seconds`: how long stopped work may take to end, besides its executor's own time for stopping."""
        self._store, self._clock = store, clock
        self._grace_seconds = grace_seconds
        self._idle_seconds = idle_seconds
        self._attempts: dict[Attempt, None] = {}  # In the order of their claims.
        self._latest: dict[int, Attempt] = {}
        self._unacknowledged: dict[Lease, int] = {}
        """Attempts that are over here and perhaps not in the database, with their instance."""
        self._notes: set[asyncio.Task[None]] = set()
        self._left = asyncio.Event()
        self._guard_at = math.inf
        """When the guard checks again by itself."""

    def __len__(self) -> int:
        return len(self._attempts)

    def __iter__(self) -> Iterator[Attempt]:
        return iter(list(self._attempts))

    def add(self, attempt: Attempt) -> bool:
        """Return True if the guard must be woken for it: it may have to stop before the guard checks again."""
        older = self._latest.get(attempt.job.seq)
        if older is not None:
            # This instance was stuck for longer than the lease, and has claimed the job again from itself.
            older.stop(StopCause.LEASE_LOST)
        self._attempts[attempt] = None
        self._latest[attempt.job.seq] = attempt
        deadline = attempt.deadline
        return attempt.give_up_at < self._guard_at or (deadline is not None and deadline < self._guard_at)

    def remove(self, attempts: Iterable[Attempt]) -> None:
        running, latest = self._attempts, self._latest
        for attempt in attempts:
            running.pop(attempt, None)
            if not attempt.acknowledged:
                self._unacknowledged[attempt.lease] = attempt.job.instance
                if len(self._unacknowledged) > _REMEMBERED_AT_MOST:
                    del self._unacknowledged[next(iter(self._unacknowledged))]
            seq = attempt.job.seq
            if latest.get(seq) is attempt:
                del latest[seq]
        self._left.set()

    def begun(self) -> set[Lease]:
        """Return the leases of all attempts that have begun here and may be running by the database's account."""
        return {attempt.lease for attempt in self._attempts} | self._unacknowledged.keys()

    def forget(self, instance: int, over: set[Lease]) -> None:
        """Forget attempts of an instance that are over by the database's account, too."""
        for lease in [each for each, held_by in self._unacknowledged.items() if held_by == instance and each in over]:
            del self._unacknowledged[lease]

    async def any_left(self, timeout: float) -> None:
        """Wait until an attempt has ended since the last call, or for `timeout`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._left.wait()
        self._left.clear()

    def held(self) -> dict[int, Attempt]:
        """Return those whose leases are believed to hold, by job: of two attempts of one job only the later."""
        return {seq: attempt for seq, attempt in self._latest.items() if not attempt.lost}

    def stop_all(self, cause: StopCause) -> None:
        for attempt in self:
            attempt.stop(cause)

    async def guard(self) -> float:
        """Stop work whose lease is in danger or whose deadline has passed; use force on what does not stop.

        Never waits for the database.

        That is the point: an instance cut off from it must still stop its work before its leases end.
        """
        self._guard_at = math.inf  # In case this fails.
        now = self._clock.monotonic()
        for attempt in self:
            if now >= attempt.give_up_at:
                attempt.stop(StopCause.LEASE_LOST)
            elif attempt.deadline is not None and now >= attempt.deadline and attempt.stoppable:
                attempt.stop(StopCause.DEADLINE)
                attempt.overdue_note = note = guarded_task(self._note_overdue(attempt))
                self._notes.add(note)
                note.add_done_callback(self._notes.discard)
            elif attempt.soft_deadline is not None and now >= attempt.soft_deadline and attempt.stoppable:
                attempt.soft_timed_out()
            self._watch_stop(attempt, now)
        moments = [attempt.give_up_at for attempt in self if not attempt.lost]
        moments += [attempt.deadline for attempt in self if attempt.deadline is not None and attempt.stoppable]
        moments += [
            attempt.soft_deadline for attempt in self if attempt.soft_deadline is not None and attempt.stoppable
        ]
        moments += [attempt.unheard_at for attempt in self if attempt.unheard_at is not None]
        pause = max(0.001, min([self._idle_seconds, *(moment - now for moment in moments)]))
        self._guard_at = now + pause
        return pause

    def _watch_stop(self, attempt: Attempt, now: float) -> None:
        """Escalate the end of work that was stopped and is not heard of within its time; again after twice that, …"""
        if not attempt.stopping or attempt.settling:
            attempt.unheard_at = None
        elif attempt.unheard_at is None:
            attempt.stopped_at = now
            attempt.unheard_at = now + attempt.executor.stop_seconds + self._grace_seconds
        elif now >= attempt.unheard_at:
            attempt.escalate(now - attempt.stopped_at)
            attempt.unheard_at = now + min(now - attempt.stopped_at, _ESCALATE_SECONDS)

    def learn(self, held: dict[int, Attempt], facts: LeaseFacts) -> None:
        """Act on the database's facts about attempts that were held at the time of the query."""
        for seq, attempt in held.items():
            # A result that is being written may be accepted already: the database decides.
            if self._latest.get(seq) is not attempt or attempt.settling:
                continue
            if seq in facts.stop:
                attempt.stop(StopCause.CANCELLED)
            elif seq in facts.lost:
                attempt.stop(StopCause.LEASE_LOST)

    async def _note_overdue(self, attempt: Attempt) -> None:
        """Written before the attempt's end, which waits for this; time-limited, since the end matters more."""
        try:
            async with asyncio.timeout(_NOTE_SECONDS):
                await self._store.write(lambda tx: note_overdue(tx, self._store.lanes, attempt.lease))
        except (DatabaseUnavailable, TimeoutError) as error:
            _log.warning("overdue_not_noted", job=attempt.job.id, error=str(error))


class Renewer:
    def __init__(self, store: Store, attempts: RunningAttempts, settings: Settings, clock: Clock) -> None:
        self._store, self._attempts, self.settings, self._clock = store, attempts, settings, clock

    async def renew(self) -> float:
        """Extend every lease held."""
        held = self._attempts.held()
        if held:
            leases = [attempt.lease for attempt in held.values()]
            sent_at = self._clock.monotonic()
            async with asyncio.timeout(self.settings.heartbeat):
                facts = await self._store.write(lambda tx: renew(tx, leases, micros(self.settings.lease)))
            for seq in facts.renewed:
                held[seq].renewed(sent_at, self.settings.lease)
            self._attempts.learn(held, facts)
            if len(facts.renewed | facts.lost) < len(held):
                # Some were locked, by their own writes perhaps: a job that writes much must not lose its lease.
                return self.settings.heartbeat / 10
        return self.settings.heartbeat

    async def watch(self) -> float:
        """Look for cancelled and lost jobs between two renewals; an idle instance does not ask."""
        held = self._attempts.held()
        if not held:
            return self.settings.poll
        sent_at = self._clock.monotonic()
        async with asyncio.timeout(self.settings.heartbeat):
            leases = [attempt.lease for attempt in held.values()]
            facts = await self._store.read(lambda tx: lease_rows.look(tx, leases))
        for seq, left in facts.left.items():
            held[seq].lasts(sent_at, left / MICROS)
        self._attempts.learn(held, facts)
        return self.settings.watch


_CHECK_SECONDS = 0.02


async def let_finish(attempts: RunningAttempts, seconds: float, stop_now: asyncio.Event) -> None:
    """Wait until nothing runs any more, for `seconds` at most, or until `stop_now` is set.

    Call it only after claiming has ended: a claim under way would take what is handed back, and start it here again.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + seconds
    stopped = loop.create_task(stop_now.wait())
    while len(attempts) and not stopped.done() and (left := ends_at - loop.time()) > 0:
        await attempts.any_left(min(left, _CHECK_SECONDS))
    stopped.cancel()


async def hand_back(attempts: RunningAttempts, lease: float) -> None:
    """Stop what runs. Returns when the database has recorded all that has stopped, within the time of a lease.

    Processes get their grace. Threads cannot be stopped: their leases are no longer renewed, and their jobs are
    recovered elsewhere.
    """
    attempts.stop_all(StopCause.SHUTDOWN)
    loop = asyncio.get_running_loop()
    began_at = loop.time()
    while len(attempts):
        settling = any(attempt.settling for attempt in attempts)
        stop_seconds = max(attempt.executor.stop_seconds for attempt in attempts)
        limit = lease if settling else max(1.0, lease / 10) + stop_seconds
        if loop.time() - began_at > limit:
            return
        await attempts.any_left(_CHECK_SECONDS)
