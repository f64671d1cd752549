"""Runs one attempt from its claim to its acknowledged end."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from hanbeon.clock import Clock
from hanbeon.domain.outcome import HandedBack, Outcome, Raised, Returned, TimedOut
from hanbeon.domain.retry import FailureType
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.completion import Completion
from hanbeon.errors import DatabaseUnavailable, HanbeonError
from hanbeon.executors.port import Call, StopCause, raised
from hanbeon.logs import get_logger
from hanbeon.store.operations.settle import Report, Settled
from hanbeon.store.port import Store
from hanbeon.tasks.task import Task

_log = get_logger("hanbeon.engine")
_RETRY_SECONDS = 0.2


class Runner:
    """execute → classify → persist, and nothing is forgotten on the way."""

    def __init__(self, store: Store, completion: Completion, clock: Clock, max_result_bytes: int) -> None:
        self._store, self._completion, self._clock = store, completion, clock
        self._max_result_bytes = max_result_bytes

    async def run(self, attempt: Attempt, task: Task[..., Any]) -> None:
        """Returns when the work has stopped and the database knows it, or when the lease is gone."""
        try:
            outcome = await self._execute(attempt, task)
            if outcome is not None:
                await self._persist(attempt, outcome)
        finally:
            if attempt.lent is not None:
                await attempt.lent.abandon()

    async def _execute(self, attempt: Attempt, task: Task[..., Any]) -> Outcome | None:
        if attempt.cause is not None:
            return _classify(attempt, None)
        try:
            arguments = task.signature.unpack(attempt.job.args)
        except HanbeonError as error:
            return raised(error)
        work = attempt.executor.start(Call(task, arguments, attempt, self._max_result_bytes))
        attempt.begin(work, self._clock.monotonic())
        try:
            outcome = await work.outcome()
        except asyncio.CancelledError:
            work.stop(StopCause.SHUTDOWN)
            raise
        return _classify(attempt, outcome)

    async def _persist(self, attempt: Attempt, outcome: Outcome) -> None:
        """Try for as long as the lease lasts; afterwards recovery decides, here or elsewhere."""
        attempt.settling = True
        if attempt.overdue_note is not None:
            await asyncio.wait([attempt.overdue_note])
        while (left := attempt.lease_until - self._clock.monotonic()) > 0 and not attempt.lost:
            try:
                # Within the lease: a connection that died without a word would keep the slot for ever.
                async with asyncio.timeout(left):
                    settled = await self._settle(attempt, outcome)
            except (DatabaseUnavailable, TimeoutError) as error:
                if isinstance(outcome, Returned) and attempt.lent is not None:
                    # Its connection is gone and the writes with it: what the body did must be done again.
                    outcome = Raised(f"its transaction was lost with the database connection: {error}")
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            except Exception as error:
                if not isinstance(outcome, Returned):
                    raise
                # A child's unique key is taken, a constraint was deferred to the commit: then the work did not succeed.
                outcome = raised(error)
                continue
            if settled is None:
                _log.warning("result_refused", job=attempt.job.id, attempt=attempt.job.fence)
            else:
                _log.info(
                    settled.reason.value,
                    job=attempt.job.id,
                    task=attempt.job.task,
                    attempt=attempt.job.fence,
                    state=settled.state.value,
                )
            return
        _log.warning("lease_lost", job=attempt.job.id, attempt=attempt.job.fence)

    async def _settle(self, attempt: Attempt, outcome: Outcome) -> Settled | None:
        report = Report(attempt.job.seq, attempt.job.fence, outcome, random.random(), attempt.job.instance)
        if not isinstance(outcome, Returned):
            if attempt.lent is not None:
                await attempt.lent.abandon()
            return await self._completion.settle(report)
        if attempt.lent is None and not attempt.children:
            return await self._completion.settle(report)
        if attempt.lent is not None:
            settled = await self._store.settle_lent(attempt.lent, report, attempt.children)
        else:
            settled = await self._store.settle_with_children(report, attempt.children)
        if settled is None:
            # Stale, or cancelled meanwhile: rolled back. The plain path ends a cancelled job and refuses a stale one.
            return await self._completion.settle(report)
        return settled


def _classify(attempt: Attempt, outcome: Outcome | None) -> Outcome | None:
    """What the database is told. Stopped work ends by its cause; a shutdown leaves a finished body its result.

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
