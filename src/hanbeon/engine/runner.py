"""Runs one attempt from its claim to its acknowledged end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from hanbeon.clock import MICROS, Clock
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.outcome import ExceptionText, HandedBack, Outcome, Raised, Returned, TimedOut
from hanbeon.domain.retry import FailureType
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.completion import Answer, CompletionBuffer, Success, report_of
from hanbeon.engine.execution_log import log_end, log_start
from hanbeon.errors import DatabaseUnavailable, HanbeonError
from hanbeon.executors.executor import Call, StopCause, raised
from hanbeon.guarded_task import guarded_task
from hanbeon.logs import get_logger, log_enabled
from hanbeon.quotation import plain
from hanbeon.store.operations.complete import Completed
from hanbeon.store.store import Store
from hanbeon.tasks.task import Task

_log = get_logger("hanbeon.engine")
_tasks_log = get_logger("hanbeon.tasks")
_log_enabled = log_enabled("hanbeon.engine")
_FAILURES = (Reason.RETRIED, Reason.FAILED)
_ERROR_CHARACTERS = 300
_RETRY_SECONDS = 0.2
Ended = Callable[[Sequence[Attempt]], None]
Mask = Callable[[str], str]


class Runner:
    """execute → classify → persist, without losing an attempt on the way.

    Most attempts are plain successes: they go from callback to callback, without a task of their own. Whatever
    needs more, a transaction or a database that is down, is finished by a task.
    """

    def __init__(
        self,
        store: Store,
        completion: CompletionBuffer,
        clock: Clock,
        max_result_bytes: int,
        *,
        ended: Ended,
        mask: Mask = str,
    ) -> None:
        """`mask` removes secrets from the texts of failures."""
        self._store, self._completion, self._clock = store, completion, clock
        self._max_result_bytes = max_result_bytes
        self._ended, self._mask = ended, mask
        self.tasks: set[asyncio.Task[None]] = set()
        self._ends: Counter[Reason] = Counter()
        self._succeeded = 0  # Apart: to find an enumeration in a dict takes longer than to count.

    @property
    def ends(self) -> Mapping[Reason, int]:
        """Attempts that have ended here, by reason."""
        return self._ends + Counter({Reason.SUCCEEDED: self._succeeded})

    def start(self, attempt: Attempt, task: Task[..., Any]) -> None:
        """Begin. `ended` is called when the work has stopped and the database knows it, or the lease is gone.

        Nothing is raised: whatever keeps a body from beginning is a failure of its attempt, and of no other.
        """
        try:
            self._start(attempt, task)
        except BaseException as error:
            # Any: types of arguments run code of the user, which may even raise SystemExit.
            self._not_started(attempt.job, error)
            self._stopped(attempt, raised(error))

    def refuse(self, job: Claimed, error: Exception, until: float) -> None:
        """End a claimed job that cannot even become an attempt."""
        self._not_started(job, error)
        self._completion.hand_in(report_of(job, raised(error)), until, lambda answer: None)

    def _not_started(self, job: Claimed, error: BaseException) -> None:
        if not isinstance(error, HanbeonError):
            _log.error("attempt_not_started", job=job.id, attempt=job.fence, exc_info=error)

    def _start(self, attempt: Attempt, task: Task[..., Any]) -> None:
        if attempt.cause is not None:
            return self._stopped(attempt, None)
        arguments = task.signature.unpack(attempt.job.args)
        call = Call(task, arguments, attempt, self._max_result_bytes)
        attempt.given_at = now = self._clock.monotonic()
        if attempt.job.idempotency_key is not None and _log_enabled():
            log_start(attempt.job, attempt.zone)
        work = attempt.executor.start(call, partial(self._stopped, attempt))
        if (soft := task.options.soft_timeout) is not None:
            attempt.warn_at(now + soft)
        return attempt.begin(work, now)

    def _stopped(self, attempt: Attempt, outcome: Outcome | None) -> None:
        """The one way to the end of an attempt, for whatever executor and error; the first report counts."""
        if attempt.settling:
            _log.error("ended_twice", job=attempt.job.id, attempt=attempt.job.fence)
            return None
        attempt.settling = True
        # The work knows its attempt: if the attempt went on knowing it, both would wait for the cycle collector.
        attempt.work = None
        result = outcome if attempt.cause is None else _classify(attempt, outcome)
        if isinstance(result, Returned) and attempt.is_plain:
            return self._completion.hand_in_success((attempt, result), self)
        if isinstance(outcome, Raised) and outcome.exception is not None:
            masked = self._masked(attempt.job, outcome, outcome.exception)
            result = masked if result is outcome else result
        if result is None and attempt.user_transaction is None:
            return self._ended((attempt,))
        return self._finish_in_task(attempt, result)

    def _masked(self, job: Claimed, outcome: Raised, exception: ExceptionText) -> Raised:
        """Log the traceback of a body, and return its failure, both without secrets."""
        text = ExceptionText(exception.name, self._mask(exception.traceback))
        _tasks_log.warning("task_raised", job=job.id, task=job.task, attempt=job.fence, exception=text.traceback)
        return msgspec.structs.replace(outcome, message=self._mask(outcome.message), exception=text)

    def succeeded(self, successes: list[Success], at: int) -> None:
        """The end of plain successes that were all accepted."""
        attempts = [attempt for attempt, _ in successes]
        for attempt in attempts:
            attempt.acknowledged = True
        self._succeeded += len(attempts)
        try:
            if _log_enabled():
                with _log.together():
                    for attempt in attempts:
                        lease = (attempt.job.seq, attempt.job.fence)
                        _log_settled(attempt, Completed(*lease, State.SUCCEEDED, Reason.SUCCEEDED, at))
        finally:
            self._ended(attempts)

    def answered(self, success: Success, answer: Answer) -> None:
        """The end of a plain success by itself; one that was not accepted as such is finished by a task."""
        attempt, outcome = success
        if isinstance(answer, Exception):
            return self._finish_in_task(attempt, outcome, answer)
        try:
            return self._log_end(attempt, answer)
        finally:
            self._ended((attempt,))

    def _finish_in_task(self, attempt: Attempt, outcome: Outcome | None, error: Exception | None = None) -> None:
        finishing = self._finish(attempt, outcome, error)
        task = guarded_task(finishing, name=f"end-{attempt.job.id}")
        self.tasks.add(task)
        task.add_done_callback(lambda done: self._task_done(attempt, done))

    def _task_done(self, attempt: Attempt, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Its lease runs out and recovery takes the job: nothing is lost, but it is a defect.
            _log.error("attempt_crashed", job=attempt.job.id, attempt=attempt.job.fence, exc_info=error)
        self._ended((attempt,))

    async def _finish(self, attempt: Attempt, outcome: Outcome | None, error: Exception | None) -> None:
        try:
            if outcome is not None:
                await self._persist(attempt, outcome, error)
        finally:
            if attempt.user_transaction is not None:
                await attempt.user_transaction.abandon()

    async def _persist(self, attempt: Attempt, outcome: Outcome, error: Exception | None) -> None:
        """Try for as long as the lease lasts; afterwards recovery decides, here or elsewhere."""
        if attempt.overdue_note is not None:
            await asyncio.wait([attempt.overdue_note])
        if error is not None:
            outcome = await _after(error, attempt, outcome)
        while (left := attempt.lease_until - self._clock.monotonic()) > 0 and not attempt.lost:
            try:
                # Within the lease: a connection that died silently would keep the slot forever.
                async with asyncio.timeout(left):
                    if attempt.printed is not None and not await _write_log(attempt, outcome):
                        continue
                    settled = await self._settle(attempt, outcome)
            except Exception as failure:
                outcome = await _after(failure, attempt, outcome)
                continue
            return self._log_end(attempt, settled)
        _log.warning("lease_lost", job=attempt.job.id, attempt=attempt.job.fence)
        return None

    async def _settle(self, attempt: Attempt, outcome: Outcome) -> Completed | None:
        report = report_of(attempt.job, outcome)
        if not isinstance(outcome, Returned):
            if attempt.user_transaction is not None:
                await attempt.user_transaction.abandon()
            return await self._completion.settle(report, attempt.lease_until)
        if attempt.user_transaction is None and not attempt.children:
            return await self._completion.settle(report, attempt.lease_until)
        if attempt.user_transaction is not None:
            settled = await self._store.complete_within(attempt.user_transaction, report, attempt.children)
        else:
            settled = await self._store.complete_with_children(report, attempt.children)
        if settled is None:
            # Stale, or cancelled meanwhile: rolled back. The plain path ends a cancelled job and refuses a stale one.
            if attempt.printed is not None:
                await _write_log(attempt, None)
            return await self._completion.settle(report, attempt.lease_until)
        return settled

    def _log_end(self, attempt: Attempt, settled: Completed | None) -> None:
        job = attempt.job
        if settled is None:
            _log.warning("result_refused", job=job.id, attempt=job.fence)
            return
        attempt.acknowledged = True
        if settled.reason is Reason.SUCCEEDED:
            self._succeeded += 1
        else:
            self._ends[settled.reason] += 1
        if _log_enabled():
            _log_settled(attempt, settled)


def _log_settled(attempt: Attempt, settled: Completed) -> None:
    job = attempt.job
    facts: dict[str, Any] = {"job": job.id, "task": job.task, "attempt": job.fence, "state": settled.state.value}
    if settled.at:
        facts["took"] = round((settled.at - job.started_at) / MICROS, 3)
    if settled.reason is Reason.RETRIED:
        if settled.retry_count != job.retry_count:  # Else it cost none: the work was not what failed.
            facts |= {"retry": settled.retry_count, "retries": job.policy.max_retries}
        facts["retry_in"] = (settled.delay_us or 0) / MICROS
    if settled.message is not None and settled.reason in _FAILURES:
        facts["error"] = plain(settled.message, _ERROR_CHARACTERS)
    _log.info(settled.reason.value, **facts)
    if job.idempotency_key is not None:
        log_end(job, settled, attempt.zone)


async def _write_log(attempt: Attempt, outcome: Outcome | None) -> bool:
    """Write all output before the end; False if it was down, after a wait."""
    assert attempt.printed is not None
    transaction = attempt.user_transaction
    if transaction is not None and not isinstance(outcome, Returned):
        await transaction.abandon()
        transaction = None
    try:
        await attempt.printed.write_rest(transaction)
    except (DatabaseUnavailable, TimeoutError):
        await asyncio.sleep(_RETRY_SECONDS)
        return False
    return True


async def _after(error: Exception, attempt: Attempt, outcome: Outcome) -> Outcome:
    """Return the outcome to write after the database did not take the first; waits if it was down."""
    if isinstance(error, DatabaseUnavailable | TimeoutError):
        if isinstance(outcome, Returned) and attempt.user_transaction is not None:
            # Its connection is gone and the writes with it: what the body did must be done again.
            message = f"its transaction was lost with the database: {error}"
            outcome = Raised(message, FailureType.DATABASE_UNAVAILABLE)
        _log.warning("end_not_written", job=attempt.job.id, attempt=attempt.job.fence, error=str(error))
        await asyncio.sleep(_RETRY_SECONDS)
        return outcome
    if not isinstance(outcome, Returned):
        raise error
    # A child's unique key is taken, a constraint was deferred to the commit: then the work did not succeed.
    return raised(error)


def _classify(attempt: Attempt, outcome: Outcome | None) -> Outcome | None:
    """Return the outcome to write. Stopped work ends by its cause; a shutdown leaves a finished body its result.

    An error that comes after a shutdown's stop comes from being interrupted, and is no failure of the work.
    """
    match attempt.cause:
        case StopCause.LEASE_LOST:
            return None
        case StopCause.DEADLINE:
            return TimedOut()
        case StopCause.SHUTDOWN if outcome is None or _is_plain_error(outcome):
            return HandedBack()
        case StopCause.SHUTDOWN | StopCause.CANCELLED:
            return outcome or HandedBack()
        case None:
            return outcome


def _is_plain_error(outcome: Outcome) -> bool:
    return isinstance(outcome, Raised) and outcome.failure_type == FailureType.ERROR and not outcome.permanent


def runner_of(
    store: Store, completion: CompletionBuffer, clock: Clock, max_result_bytes: int, ended: Ended, mask: Mask
) -> Runner:
    """Return the runner of attempts; the other kind is imported only while tracing is on."""
    if store.tracer is None:
        return Runner(store, completion, clock, max_result_bytes, ended=ended, mask=mask)
    from hanbeon.engine.traced_runner import TracedRunner

    return TracedRunner(store.tracer, store, completion, clock, max_result_bytes, ended=ended, mask=mask)
