"""The body of a run: its steps in order, each recorded before the next begins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.domain.retry import FailureType, RetryPolicy
from hanbeon.domain.templates import TemplateError
from hanbeon.errors import DatabaseUnavailable, LeaseLost
from hanbeon.executors.executor import MESSAGE_LIMIT
from hanbeon.logs import get_logger
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.queries import now_us
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.workflows import run_rows as runs
from hanbeon.surfaces.workflows import step_rows as checkpoints
from hanbeon.surfaces.workflows.definition import Definition, Step
from hanbeon.surfaces.workflows.rows import workflow_by_id
from hanbeon.surfaces.workflows.run_rows import WholeRun
from hanbeon.surfaces.workflows.step_rows import DeliveryRecord, PutOffUntil, StepRecord
from hanbeon.surfaces.workflows.variables import output_of, values_of
from hanbeon.surfaces.workflows.vocabulary import STEP_ENDED, OnError, StepStatus
from hanbeon.tasks.context import AttemptBackend
from hanbeon.zones import zone_of

T = TypeVar("T")
_log = get_logger("hanbeon.workflows")
_RETRY_SECONDS = 0.2
OUTPUT_MOST = 65_536


class StepFailed(Exception):
    """A step's attempt failed; `permanent`: another would fail as well."""

    def __init__(self, message: str, *, code: str = FailureType.ERROR, permanent: bool = False) -> None:
        super().__init__(message)
        self.code, self.permanent = code, permanent


def unforeseen(error: Exception, *, permanent: bool = False, mask: Callable[[str], str] = str) -> StepFailed:
    """The failure of a step whose handler raised what it does not know. Not a loss: nothing was cut off."""
    _log.error("step_crashed", exc_info=error)
    return StepFailed(mask(f"{type(error).__name__}: {error}"), permanent=permanent)


class StepPutOff(Exception):
    """A step waits: for a time, or for a job. Its record says so already."""

    def __init__(self, due_at: int, message: str) -> None:
        super().__init__(message)
        self.due_at, self.message = due_at, message


class RunState:
    """A run in the hands of one attempt. Every write carries the attempt's fence."""

    def __init__(self, store: Store, backend: AttemptBackend, whole: WholeRun, zone: ZoneInfo) -> None:
        self.store, self.backend, self.zone = store, backend, zone
        self.run = whole.run
        assert whole.run.plan is not None
        self.definition: Definition = whole.run.plan
        self.steps = {step.step_index: step for step in whole.steps}
        self.deliveries = {(each.step_index, each.n): each for each in whole.deliveries}
        self.lease = lease_of(backend.job)

    @property
    def fence(self) -> int:
        return self.lease.fence

    def values(self) -> dict[str, Any]:
        """The variables of the step that is next, without secrets."""
        outputs = {
            step.name: output_of(step.output) for step in self.steps.values() if step.status is StepStatus.COMPLETED
        }
        # A step that failed and was passed over has no output, and one that refers to it is not to fail for that.
        outputs |= {step.name: None for step in self.steps.values() if step.name not in outputs}
        return values_of(
            self.definition,
            output_of(self.run.variables),
            workflow_id=self.run.workflow_id,
            run_id=self.run.run_id,
            scheduled_time=self.run.scheduled_time,
            zone=self.zone,
            outputs=outputs,
        )

    async def now(self) -> int:
        return await self._patiently(lambda: self.store.read(now_us))

    async def write(
        self,
        step: StepRecord | None = None,
        deliveries: tuple[DeliveryRecord, ...] = (),
        put_off: PutOffUntil | None = None,
    ) -> None:
        """Write a checkpoint; raises LeaseLost if this attempt was superseded."""
        held = await self._patiently(
            lambda: self.store.write(lambda tx: checkpoints.write_checkpoint(tx, self.lease, step, deliveries, put_off))
        )
        self._written(held, step, deliveries)

    async def start_job(self, step: StepRecord, job: Any, put_off: PutOffUntil) -> None:
        held = await self._patiently(
            lambda: self.store.write(
                lambda tx: checkpoints.start_step_job(tx, self.store.lanes, self.lease, step, job, put_off)
            )
        )
        self._written(held, step, ())

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        return await self._patiently(lambda: self.store.read(operation))

    def _written(self, held: bool, step: StepRecord | None, deliveries: tuple[DeliveryRecord, ...]) -> None:
        if not held:
            raise LeaseLost(self.run.run_id, self.fence)
        if step is not None:
            self.steps[step.step_index] = step
        for each in deliveries:
            self.deliveries[each.step_index, each.n] = each

    async def _patiently(self, act: Callable[[], Awaitable[T]]) -> T:
        """A database that refuses for a moment must not fail a step that is done; the lease limits the wait."""
        while True:
            try:
                return await act()
            except DatabaseUnavailable:
                if self.backend.stopping:
                    raise
                await asyncio.sleep(_RETRY_SECONDS)


RunStep = Callable[[RunState, Step, StepRecord], Awaitable[Any]]


def lease_of(job: Claimed) -> Lease:
    return Lease(job.seq, job.fence, job.instance)


async def run_steps(store: Store, backend: AttemptBackend, handlers: Mapping[Any, RunStep]) -> Outcome:
    """Run the steps that have not ended; return the outcome of the attempt."""
    job = backend.job
    whole = await store.write(lambda tx: runs.begin(tx, lease_of(job), job.id))
    if whole is None:
        raise LeaseLost(job.id, job.fence)
    workflow = await store.read(lambda tx: workflow_by_id(tx, whole.run.workflow_id, deleted=True))
    state = RunState(store, backend, whole, zone_of(workflow.timezone))
    for index, step in enumerate(state.definition.steps):
        record = state.steps.get(index)
        if record is not None and record.status in STEP_ENDED:
            if record.status is StepStatus.FAILED and step.on_error is OnError.STOP:
                return _failed(step, record)
            continue
        outcome = await _run_step(state, index, step, record, handlers[step.type])
        if outcome is not None:
            return outcome
    failed = [record.name for record in state.steps.values() if record.status is StepStatus.FAILED]
    return Returned(to_json({"steps": len(state.definition.steps), "failed": failed}))


async def _run_step(
    state: RunState, index: int, step: Step, before: StepRecord | None, handler: RunStep
) -> Outcome | None:
    """Run one step; return None if the next one is to follow."""
    now = await state.now()
    record = _begun(state, index, step, before, now)
    await state.write(record)
    try:
        output = await handler(state, step, record)
    except StepPutOff as waiting:
        return PutOff(max(0, waiting.due_at - await state.now()), waiting.message)
    except TemplateError as error:
        return await _attempt_failed(
            state, step, StepFailed(str(error), code=FailureType.INVALID, permanent=True), index
        )
    except StepFailed as error:
        return await _attempt_failed(state, step, error, index)
    except (DatabaseUnavailable, LeaseLost):
        raise  # This attempt cannot write, or must not: nobody knows how far the step came.
    except Exception as error:
        return await _attempt_failed(state, step, unforeseen(error), index)
    try:
        text = _output_text(output)
    except Exception as error:
        # For good: the step has done its work, and would do it again.
        return await _attempt_failed(state, step, unforeseen(error, permanent=True), index)
    # The handler may have written the record again.
    await state.write(
        msgspec.structs.replace(
            state.steps[index],
            status=StepStatus.COMPLETED,
            output=text,
            error_code=None,
            error_message=None,
            ended_at=await state.now(),
        )
    )
    return None


def _begun(state: RunState, index: int, step: Step, before: StepRecord | None, now: int) -> StepRecord:
    """The record of a step whose attempt begins now. One that goes on with its wait is no new attempt."""
    if before is None:
        return StepRecord(
            run_id=state.run.run_id,
            step_index=index,
            name=step.name,
            type=step.type,
            status=StepStatus.RUNNING,
            attempts=1,
            unknown=0,
            fence=state.fence,
            started_at=now,
        )
    if before.status is StepStatus.WAITING:
        return msgspec.structs.replace(before, fence=state.fence)
    # It was running under another attempt: nobody saw how that ended.
    cut_off = before.status is StepStatus.RUNNING
    return msgspec.structs.replace(
        before,
        status=StepStatus.RUNNING,
        attempts=before.attempts + 1,
        unknown=before.unknown + cut_off,
        fence=state.fence,
        ended_at=None,
    )


async def _attempt_failed(state: RunState, step: Step, error: StepFailed, index: int) -> Outcome | None:
    record, now = state.steps[index], await state.now()
    message = str(error)[:MESSAGE_LIMIT].replace("\x00", "\ufffd")
    failed = msgspec.structs.replace(record, error_code=error.code, error_message=message, fence=state.fence)
    # Attempts that were cut off are not failures of the step.
    used = record.attempts - record.unknown
    if not error.permanent and used <= step.retries:
        delay = RetryPolicy(base_us=round(step.retry_delay * 1_000_000)).delay_us(max(0, used - 1))
        await state.write(
            msgspec.structs.replace(failed, status=StepStatus.RETRYING), put_off=PutOffUntil(now + delay, 1)
        )
        return PutOff(delay, f"step {step.name!r} failed and is tried again: {message}"[:MESSAGE_LIMIT])
    failed = msgspec.structs.replace(failed, status=StepStatus.FAILED, ended_at=now)
    await state.write(failed)
    return None if step.on_error is OnError.CONTINUE else _failed(step, failed)


def _failed(step: Step, record: StepRecord) -> Outcome:
    message = f"step {step.name!r} failed: {record.error_message}"[:MESSAGE_LIMIT]
    return Raised(message, record.error_code or FailureType.ERROR, permanent=True)


def _output_text(output: Any) -> str:
    text = to_json(output)
    if len(text) <= OUTPUT_MOST:
        return text
    return to_json({"truncated": True, "text": text[: OUTPUT_MOST // 8]})
