"""Steps of a chain as jobs of the engine: their task and queue, arguments, progress, result and place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.domain.reserved_queues import ReservedQueue, reserve_queue
from hanbeon.domain.retry import FailureType
from hanbeon.surfaces.chains.vocabulary import Direction, StepOutcome
from hanbeon.surfaces.surface import JobPlace

if TYPE_CHECKING:
    from hanbeon.store.tx import Tx

PREFIX = "hanbeon.chain"
QUEUE = reserve_queue(ReservedQueue("chains", "chains", "add the job to a chain, or use another queue"))
CANCELLED = "cancelled"


def task_of(library: str) -> str:
    """Return the task that runs the operations of a library. Only instances that allow the library have it."""
    return f"{PREFIX}:{library}"


def library_of(task: str) -> str:
    return task.partition(":")[2]


def context_limit(max_payload_bytes: int) -> int:
    """Return the maximum size of a context: it travels with arguments and with results, which have the rest."""
    return max_payload_bytes // 4


def value_limit(max_payload_bytes: int) -> int:
    """Return the maximum size of arguments, and of what an operation returns."""
    return max_payload_bytes // 2


class StepArgs(msgspec.Struct, frozen=True):
    """The arguments of a step's job. `context` is as the last operation left it."""

    queue_id: int
    job_id: int
    run: int
    direction: Direction
    operation: str
    arguments: msgspec.Raw
    context: msgspec.Raw


class StepError(msgspec.Struct, frozen=True):
    """An operation that failed, as it stands in `job_return`."""

    type: str
    message: str


class StepFailure(msgspec.Struct, frozen=True):
    error: StepError


class StepResult(msgspec.Struct, frozen=True, rename={"returned": "return"}):
    """The result of a step's job."""

    returned: msgspec.Raw
    context: msgspec.Raw


class StepProgress(msgspec.Struct, frozen=True, omit_defaults=True):
    """The progress of a step's job: the operation's own, and what it left behind when it raised.

    It outlives the attempt, unlike a result: the context that a failed attempt wrote is where the next one begins.
    """

    value: Any = None
    context: msgspec.Raw | UnsetType = UNSET
    error: StepError | UnsetType = UNSET
    fence: int = 0
    """The attempt that raised `error`."""


class StepEnd(msgspec.Struct, frozen=True):
    """The end of an operation: what goes into `job_return`, and the context, if it was changed for good."""

    outcome: StepOutcome
    returned: str
    context: str | None = None


_results = msgspec.json.Decoder(StepResult)
_progress = msgspec.json.Decoder(StepProgress)


def progress_of(text: str | None) -> StepProgress:
    try:
        return StepProgress() if text is None else _progress.decode(text)
    except msgspec.DecodeError:
        return StepProgress()


def _succeeded(result: str) -> StepEnd:
    try:
        done = _results.decode(result)
    except msgspec.DecodeError as error:
        # Of another release, or of nobody's: the end of a step must have a consequence whatever it is.
        failure = StepFailure(StepError(FailureType.INVALID, f"its result is not that of an operation: {error}"))
        return StepEnd(StepOutcome.FAILED, msgspec.json.encode(failure).decode())
    return StepEnd(StepOutcome.SUCCESS, bytes(done.returned).decode(), bytes(done.context).decode())


def step_end(
    state: State,
    *,
    result: str | None,
    progress: str | None,
    failure_type: str | None,
    message: str | None,
    fence: int,
) -> StepEnd:
    """Read the end of a step from its job. An attempt that raised keeps its context; a lost or late one does not."""
    if state is State.SUCCEEDED:
        return _succeeded(result or "")
    left = progress_of(progress)
    context = None if left.context is UNSET else bytes(left.context).decode()
    outcome = StepOutcome.TIMEOUT if failure_type == FailureType.TIMEOUT else StepOutcome.FAILED
    error = StepError(CANCELLED if state is State.CANCELLED else failure_type or FailureType.ERROR, message or "")
    if state is State.FAILED and left.error is not UNSET and left.fence == fence and outcome is StepOutcome.FAILED:
        error = left.error
    return StepEnd(outcome, msgspec.json.encode(StepFailure(error)).decode(), context)


def place_of_job(job: JobRecord) -> JobPlace | None:
    """A step is moved through its chain, which goes on from its end."""
    if not job.task.startswith(f"{PREFIX}:"):
        return None
    step = msgspec.json.decode(job.args, type=StepArgs)

    async def exists(tx: Tx) -> bool:
        return bool(await tx.fetch("chain_by_id", step.queue_id))

    return JobPlace(f"/api/chains/{step.queue_id}", moves=False, exists=exists)
