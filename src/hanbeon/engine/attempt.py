"""One claimed job on this instance: its lease by the monotonic clock, its work, and the backend of its context."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from zoneinfo import ZoneInfo

from hanbeon.clock import MICROS
from hanbeon.domain.job import Claimed, NewJob, check_size
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.log import LogStream
from hanbeon.engine.logs import AttemptLog, Logs
from hanbeon.errors import DatabaseUnavailable, LeaseLost
from hanbeon.executors.executor import Executor, StopCause, Work
from hanbeon.guarded_task import guarded_task
from hanbeon.logs import get_logger
from hanbeon.store.operations.lease import Lease
from hanbeon.store.store import Store
from hanbeon.store.user_transaction import UserTransaction, is_blocking
from hanbeon.tasks.context import transaction_unsupported
from hanbeon.tasks.request import JobRequest

if TYPE_CHECKING:
    from hanbeon.telemetry.tracer import AttemptTrace

_log = get_logger("hanbeon.engine")
_RETRY_SECONDS = 0.2


class Slots(Protocol):
    """The slots of which an attempt takes one."""

    def ended(self, attempts: Sequence[Attempt]) -> None: ...


class Claim:
    """The facts that the attempts of one claim share, for one executor."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        *,
        claimed_at: float,
        lease_seconds: float,
        zone: ZoneInfo,
        zone_of_naive: ZoneInfo | None,
        max_payload_bytes: int,
        logs: Logs | None = None,
        sooner: Callable[[], None] | None = None,
    ) -> None:
        """`sooner` is called when a deadline has moved to an earlier moment than the guard knows."""
        self.store, self.executor = store, executor
        self.claimed_at = claimed_at
        self.lease_until = claimed_at + lease_seconds
        # A tenth of the lease, and the time it takes to stop, before the lease ends the work is given up.
        self.margin = lease_seconds / 10 + executor.stop_seconds
        self.zone, self.zone_of_naive = zone, zone_of_naive
        self.max_payload_bytes = max_payload_bytes
        self.logs, self.sooner = logs, sooner


class Attempt:
    """One attempt on this instance. `lease_until` counts from before the renewal was sent: it errs early."""

    # On the class, because most attempts never have another value: each would cost as much as many a body.
    slots: Slots | None = None
    work: Work | None = None
    cause: StopCause | None = None
    stopped_at = 0.0
    """Of the guard: when it saw the work stopped."""
    unheard_at: float | None = None
    """Of the guard: when stopping must have had an effect."""
    deadline: float | None = None
    soft_deadline: float | None = None
    soft_timeout_passed = False
    on_soft_timeout: Callable[[], None] | None = None
    settling = False
    acknowledged = False
    """The database has said that it has recorded the end."""
    children: Sequence[NewJob] = ()
    user_transaction: UserTransaction | None = None
    overdue_note: asyncio.Task[None] | None = None
    printed: AttemptLog | None = None
    trace: AttemptTrace | None = None
    _unbegun_note: asyncio.Task[None] | None = None
    _beginning: asyncio.Lock | None = None

    def __init__(self, job: Claimed, claim: Claim) -> None:
        self.job = job
        self.claim = claim
        self.given_at = claim.claimed_at
        self.lease_until = claim.lease_until
        if job.timeout_us is not None:
            self.deadline = claim.claimed_at + job.timeout_us / MICROS

    @property
    def executor(self) -> Executor:
        return self.claim.executor

    @property
    def lease(self) -> Lease:
        return Lease(self.job.seq, self.job.fence, self.job.instance)

    def begin(self, work: Work, now: float) -> None:
        """The work starts now; where that takes a while, its executor says when the body has begun."""
        if self.settling:
            return  # It has ended already.
        self.work = work
        if self.job.timeout_us is not None:
            self.deadline = now + self.claim.executor.start_seconds + self.job.timeout_us / MICROS

    def warn_at(self, moment: float) -> None:
        """Tell the body when this moment has come, unless it has ended."""
        self.soft_deadline = moment
        if self.claim.sooner is not None:
            self.claim.sooner()

    def soft_timed_out(self) -> None:
        self.soft_deadline, self.soft_timeout_passed = None, True
        _log.info("soft_timeout", job=self.job.id, task=self.job.task, attempt=self.job.fence)
        if self.on_soft_timeout is not None:
            self.on_soft_timeout()

    def body_began(self, now: float) -> None:
        """The body starts now: its time counts from here."""
        if self.job.timeout_us is not None:
            self.deadline = now + self.job.timeout_us / MICROS
            if self.claim.sooner is not None:
                self.claim.sooner()

    def awaits_begin(self) -> None:
        """The body cannot begin yet. Noted in the database, so that a loss until then counts for nothing."""
        if self._unbegun_note is None and not self.settling:
            self._unbegun_note = guarded_task(self._note_unbegun())

    async def begin_noted(self) -> None:
        """Return once the body may begin by the database's account; LeaseLost if it may not."""
        if self._unbegun_note is None:
            return
        # Not after an error either: the note may have been committed.
        await asyncio.wait([self._unbegun_note])
        while not self.stopping:
            try:
                held = await self.claim.store.note_begin(self.lease, begun=True)
            except DatabaseUnavailable:
                await asyncio.sleep(_RETRY_SECONDS)  # Its lease limits the wait.
            else:
                if held:
                    return
                break
        raise LeaseLost(self.job.id, self.job.fence)

    async def _note_unbegun(self) -> None:
        with contextlib.suppress(DatabaseUnavailable):
            await self.claim.store.note_begin(self.lease, begun=False)

    def renewed(self, sent_at: float, lease_seconds: float) -> None:
        self.lease_until = sent_at + lease_seconds

    def lasts(self, sent_at: float, seconds: float) -> None:
        """The database says that the lease lasts so long, counted from when it was asked.

        That is longer than the last renewal where a long write on SQLite keeps renewals waiting: it extends all leases
        first, and reading this is not kept waiting.
        """
        self.lease_until = max(self.lease_until, sent_at + seconds)

    @property
    def zone(self) -> ZoneInfo:
        return self.claim.zone

    @property
    def give_up_at(self) -> float:
        return self.lease_until - self.claim.margin

    @property
    def lost(self) -> bool:
        return self.cause is StopCause.LEASE_LOST

    @property
    def is_plain(self) -> bool:
        """True if only its result is left to write: nothing to commit with it, and nothing to write before it."""
        return (
            self.user_transaction is None
            and not self.children
            and self.overdue_note is None
            and (self.printed is None or self.printed.is_clean)
        )

    @property
    def stopping(self) -> bool:
        return self.cause is not None

    @property
    def stoppable(self) -> bool:
        """True while its body runs undisturbed: one whose result is being written has ended in time."""
        return self.cause is None and not self.settling

    def stop(self, cause: StopCause) -> None:
        """Stop the work. The first cause stands, but a lost lease overrides all: nothing may be written then."""
        if self.cause is None or cause is StopCause.LEASE_LOST:
            if self.cause is cause:
                return
            self.cause = cause
            _log.info("stopping", job=self.job.id, attempt=self.job.fence, cause=cause.value)
            if self.work is not None:
                self._force(lambda work: work.stop(cause))

    def escalate(self, seconds: float) -> None:
        """Use force on work that was stopped `seconds` ago and has not ended. What cannot be killed keeps its slot."""
        _log.warning(
            "not_stopping", job=self.job.id, attempt=self.job.fence, executor=self.executor.name, after=round(seconds)
        )
        self._force(lambda work: work.escalate())

    def _force(self, act: Callable[[Work], None]) -> None:
        try:
            if self.work is not None:
                act(self.work)
        except Exception:
            # The guard stops others, too, and asks for this one again.
            _log.exception("stop_failed", job=self.job.id, attempt=self.job.fence)

    # The backend of the body's context

    async def write_progress(self, value: Any) -> None:
        text = to_json_text(value, "progress", "progress")
        check_size("progress", text, self.claim.max_payload_bytes)
        self._check_running()
        while not self.lost:
            try:
                held = await self.claim.store.write_progress(self.lease, text, self.user_transaction)
            except DatabaseUnavailable:
                if self.stopping or is_blocking(self.user_transaction):
                    raise  # In the second case it goes through its transaction, which is lost.
                # A database that refuses for a moment must not fail the body; its lease limits the wait.
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                if held:
                    return
                break
        raise LeaseLost(self.job.id, self.job.fence)

    def log(self, stream: LogStream, data: bytes) -> None:
        # A thread or process that outlives the body would log after its end.
        logs = self.claim.logs
        if logs is not None and not self.settling and (log := self.printed or logs.of(self)) is not None:
            log.take(stream, data)

    async def transaction(self) -> UserTransaction:
        if not self.executor.offers_transactions:
            raise transaction_unsupported(self.executor.name)
        self._beginning = self._beginning or asyncio.Lock()
        async with self._beginning:
            # One at a time: of two transactions the first would be forgotten, and on SQLite hold the second one up.
            if self.user_transaction is None:
                self._check_running()
                transaction = await self.claim.store.begin()
                if self.lost or self.settling:
                    # The body has ended meanwhile, without waiting for this: nobody would end the transaction.
                    await transaction.abandon()
                    raise LeaseLost(self.job.id, self.job.fence)
                self.user_transaction = transaction
        return self.user_transaction

    async def enqueue(self, request: JobRequest[Any]) -> str:
        """Kept until the body has returned, then created with its success or not at all."""
        child = request.to_new_job(self.claim.zone_of_naive, self.job.queue)
        self.add_child(child)
        return child.id

    def add_child(self, child: NewJob) -> None:
        child.validate(self.claim.max_payload_bytes)
        self._check_running()
        if not isinstance(self.children, list):
            self.children = []
        self.children.append(child)

    def _check_running(self) -> None:
        """Refuse a context that is used after its body has ended, by a task or thread that the body left behind."""
        if self.lost or self.settling:
            raise LeaseLost(self.job.id, self.job.fence)
