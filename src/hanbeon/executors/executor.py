"""The interface of executors: start a body, really stop it, and report its outcome once it has stopped."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec

from hanbeon.domain.job import NAME_LIMIT
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.domain.retry import NOT_THE_WORK, ExceptionFilter, FailureType
from hanbeon.errors import HanbeonError, InvalidInput, TaskError
from hanbeon.executors.traceback_text import exception_text
from hanbeon.settings import Settings
from hanbeon.tasks.context import AttemptBackend, PutOffRequest
from hanbeon.tasks.task import Task

MESSAGE_LIMIT = 4_000
_NOTHING = Returned("null")
NOT_KEPT = Returned(None)


class StopCause(enum.StrEnum):
    """Why work is stopped from outside."""

    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    SHUTDOWN = "shutdown"
    LEASE_LOST = "lease_lost"


class Call(msgspec.Struct, frozen=True):
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

    def escalate(self) -> None:
        """Use what force there is: it was stopped, and its end has not been reported in time. May be called again."""
        ...


class Executor(Protocol):
    """A way to run bodies."""

    name: str
    offers_transactions: bool
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

    def escalate(self) -> None:
        pass


def never(done: Done, outcome: Outcome) -> Work:
    """Report work that cannot begin like any other end, a moment later."""
    asyncio.get_running_loop().call_soon(done, outcome)
    return _Never()


def report(done: Done, outcome: Callable[[], Outcome | None]) -> None:
    """Report the end of a body. An error on the way to its outcome is a failure of this attempt, and never silence."""
    try:
        found = outcome()
    except BaseException as error:
        found = failed(error)
    done(found)


def returned(call: Call, value: Any) -> Outcome:
    """Return the outcome of a returned value."""
    task = call.task
    return result_of(task.name, value, call.max_result_bytes) if task.options.keep_result else NOT_KEPT


def result_of(task: str, value: Any, max_bytes: int) -> Outcome:
    """Return the outcome of a value; one that cannot be stored fails the job for good, since the work is done."""
    if value is None:
        return _NOTHING
    try:
        text = to_json_text(value, f"the result of task {task!r}", "result")
    except InvalidInput as error:
        return Raised(str(error), FailureType.INVALID, permanent=True)
    if len(text.encode()) > max_bytes:
        message = f"result: over the limit of {max_bytes:,} bytes; store it elsewhere and return a reference"
        return Raised(message, FailureType.INVALID, permanent=True)
    return Returned(text)


def failed(error: BaseException, retried: ExceptionFilter | None = None) -> Outcome:
    """Return the outcome of an exception of a body, with its traceback; `retried` may end its retries."""
    outcome = raised(error)
    if not isinstance(outcome, Raised):
        return outcome
    outcome = msgspec.structs.replace(outcome, exception=exception_text(error))
    # A database that refused for a moment is no failure of the work, whatever class says so.
    if retried is None or outcome.permanent or outcome.failure_type in NOT_THE_WORK:
        return outcome
    refusal = retried.refusal(error)
    if refusal is None:
        return outcome
    why = f" (not retried: {refusal})"
    return msgspec.structs.replace(
        outcome, message=_cut(outcome.message, MESSAGE_LIMIT - len(why)) + why, permanent=True
    )


def raised(error: BaseException) -> Outcome:
    """Return the outcome of an exception, whatever its methods and attributes do."""
    try:
        return _described(error)
    except BaseException as failure:
        return Raised(f"{type(error).__name__}: it cannot be described: {type(failure).__name__}"[:MESSAGE_LIMIT])


def _described(error: BaseException) -> Outcome:
    if isinstance(error, PutOffRequest):
        return PutOff(round(error.seconds * 1_000_000), _cut(str(error.message)))
    text = _text(error)
    message = f"{type(error).__name__}: {text}"[:MESSAGE_LIMIT]
    if isinstance(error, TaskError):
        failure_type = _cut(str(error.failure_type), NAME_LIMIT) or FailureType.ERROR
        return Raised(text or message, failure_type, bool(error.permanent))
    if isinstance(error, InvalidInput):
        return Raised(message, FailureType.INVALID)
    if isinstance(error, PermissionError):
        return Raised(message, FailureType.PERMISSION_ERROR)
    if isinstance(error, HanbeonError):
        return Raised(message, error.code)
    return Raised(message)


def _text(error: BaseException) -> str:
    """The beginning of the error's text; one that cannot even be shown must not keep the attempt from ending."""
    try:
        return _cut(str(error))
    except BaseException as failure:
        return f"its text cannot be shown: {type(failure).__name__}"


def _cut(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """The beginning of a text, as plain `str`: a subclass may have methods of its own."""
    return str.__getitem__(text, slice(limit))


class TimeLimits(NamedTuple):
    grace: float
    """Between SIGTERM and SIGKILL."""
    tick: float
    """Between two extensions of the deadline while the lease holds."""
    stop: float
    """The longest that a stop may take in all."""


def time_limits(settings: Settings) -> TimeLimits:
    lease, grace = settings.lease, settings.grace
    return TimeLimits(grace, min(1.0, lease / 30), grace + min(0.5, lease / 20))
