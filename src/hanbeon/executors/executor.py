"""The interface of executors: start a body, really stop it, and report its outcome once it has stopped."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from hanbeon.domain.job import NAME_LIMIT
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.domain.retry import FailureType
from hanbeon.errors import HanbeonError, InvalidInput, TaskError
from hanbeon.logs import get_logger
from hanbeon.tasks.context import AttemptBackend, PutOffRequest
from hanbeon.tasks.task import Task

MESSAGE_LIMIT = 4_000
_log = get_logger("hanbeon.tasks")


class StopCause(enum.StrEnum):
    """Why work is stopped from outside."""

    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    SHUTDOWN = "shutdown"
    LEASE_LOST = "lease_lost"


class Call(NamedTuple):
    """One body to run: a task, its typed arguments, and the engine's side of the attempt."""

    task: Task[..., Any]
    arguments: dict[str, Any]
    backend: AttemptBackend
    max_result_bytes: int


Done = Callable[[Outcome | None], None]
"""Called once with the outcome (None: stopped from outside), on the event loop, when nothing of the body runs."""


class Work(Protocol):
    """A body that runs."""

    def stop(self, cause: StopCause) -> None:
        """Make it end. Escalates by itself; may be called again."""
        ...


class Executor(Protocol):
    """A way to run bodies."""

    name: str
    lends_transactions: bool
    """True if `ctx.transaction()` works: only where the body shares the engine's process."""
    start_seconds: float
    """How long a body may take to begin, besides its timeout; if not 0, `backend.body_began` is called then."""
    stop_seconds: float
    """How long stopping may take, so that a lease in danger is given up in time."""

    def start(self, call: Call, done: Done) -> Work: ...

    async def close(self) -> None: ...


class _Never:
    """Stands for work that did not begin."""

    def stop(self, cause: StopCause) -> None:
        pass


def never(done: Done, outcome: Outcome) -> Work:
    """Report work that cannot begin like any other end, a moment later."""
    asyncio.get_running_loop().call_soon(done, outcome)
    return _Never()


def returned(call: Call, value: Any) -> Outcome:
    """Return the outcome of a returned value."""
    return result_of(call.task.name, value, call.max_result_bytes)


def result_of(task: str, value: Any, max_bytes: int) -> Outcome:
    """Return the outcome of a value; one that cannot be stored fails the job for good, since the work is done."""
    try:
        text = to_json_text(value, f"the result of task {task!r}", "result")
    except InvalidInput as error:
        return Raised(str(error), FailureType.INVALID, permanent=True)
    if len(text.encode()) > max_bytes:
        message = f"result: over the limit of {max_bytes:,} bytes; store it elsewhere and return a reference"
        return Raised(message, FailureType.INVALID, permanent=True)
    return Returned(text)


def failed(call: Call, error: BaseException) -> Outcome:
    """Return the outcome of an exception; its traceback goes to the log, its message to the attempt."""
    outcome = raised(error)
    if isinstance(outcome, Raised):
        job = call.backend.job
        _log.warning("task_raised", job=job.id, task=job.task, attempt=job.fence, exc_info=error)
    return outcome


def raised(error: BaseException) -> Outcome:
    """Return the outcome of an exception."""
    if isinstance(error, PutOffRequest):
        return PutOff(round(error.seconds * 1_000_000), error.message)
    text = _text(error)
    message = f"{type(error).__name__}: {text}"[:MESSAGE_LIMIT]
    if isinstance(error, TaskError):
        failure_type = str(error.failure_type)[:NAME_LIMIT] or FailureType.ERROR
        return Raised(text[:MESSAGE_LIMIT] or message, failure_type, error.permanent)
    if isinstance(error, InvalidInput):
        return Raised(message, FailureType.INVALID)
    if isinstance(error, PermissionError):
        return Raised(message, FailureType.PERMISSION_ERROR)
    if isinstance(error, HanbeonError):
        return Raised(message, error.code)
    return Raised(message)


def _text(error: BaseException) -> str:
    """The error's text; one that cannot even be shown must not keep the attempt from ending."""
    try:
        return str(error)
    except Exception as failure:
        return f"its text cannot be shown: {type(failure).__name__}"
