"""The body of a step's job: finds the operation in its library and calls it, in a process that can be killed."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET

from hanbeon.domain.job import check_size
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import HanbeonError, InvalidInput, PermanentError
from hanbeon.rule import Rule
from hanbeon.surfaces.chains.library import load_library, operations_of
from hanbeon.surfaces.chains.steps import StepError, StepProgress, context_limit, library_of, progress_of, value_limit
from hanbeon.tasks.context import SyncContext, reset_current, set_current

_MESSAGE_MOST = 4_000
_REPR_MOST = 4_000


class OperationContext(SyncContext):
    """The context that `hanbeon.current()` returns: that of the step's job, whose progress also carries the chain's."""

    def __init__(self, job: SyncContext, before: StepProgress) -> None:
        self._job, self._backend, self._left = job, job._backend, before

    def progress(self, value: Any) -> None:
        """Record the progress: any JSON, replaced each time. Raises LeaseLost if this attempt was superseded."""
        self.leave(value=value)

    def leave(self, **fields: Any) -> None:
        """Write what outlives this attempt."""
        self._left = msgspec.structs.replace(self._left, **fields)
        self._job.progress(self._left)

    def log(self, text: str) -> None:
        self._job.log(text)

    def transaction(self) -> Any:
        return self._job.transaction()

    def enqueue(self, request: Any) -> str:
        return self._job.enqueue(request)


def run_operation(
    ctx: SyncContext,
    queue_id: int,
    job_id: int,
    run: int,
    direction: str,
    operation: str,
    arguments: Any,
    context: dict[str, Any],
) -> dict[str, Any]:
    """Call the operation, and return what it returned with the context as it left it.

    If it raises, the context goes into the job's progress before the attempt fails, so that its backward operation, or
    the next attempt, finds it.
    """
    before = progress_of(ctx._backend.job.progress)
    if before.context is not UNSET:
        context = msgspec.json.decode(before.context)
    current = OperationContext(ctx, before)
    limit = _max_payload_bytes(ctx)
    token = set_current(current)
    try:
        function = find_operation(library_of(ctx._backend.job.task), operation)
        returned = function(arguments, context)
        if inspect.iscoroutine(returned):
            returned = asyncio.run(returned)
        text = _context_text(context, limit)
    except BaseException as error:
        _leave(current, context, error, limit)
        raise
    finally:
        reset_current(token)
    return {"return": _storable(returned, limit), "context": msgspec.Raw(text.encode())}


def find_operation(library: str, name: str) -> Callable[..., Any]:
    """Return a public function that the library itself defines; nothing that it imported."""
    found = operations_of(load_library(library)).get(name)
    if found is None:
        raise PermanentError(
            f"library {library!r} has no operation {name!r}; it must be a public function that the module defines",
            failure_type="unknown_operation",
        )
    return found


def _max_payload_bytes(ctx: SyncContext) -> int:
    found: int = ctx._remote.link.max_payload_bytes  # type: ignore[attr-defined]
    return found


def _context_text(context: Any, max_payload_bytes: int) -> str:
    if not isinstance(context, dict):
        raise InvalidInput(Rule("must_be", what=Rule("json_object")), field="context")
    text = to_json_text([context], "the context", "context")[1:-1]  # As deep as it will be stored.
    check_size("context", text, context_limit(max_payload_bytes))
    return text


def _storable(returned: Any, max_payload_bytes: int) -> Any:
    """Return the value, or a text of one that cannot be stored: whatever an operation returns is a success."""
    try:
        text = to_json_text([returned], "the return", "return")[1:-1]
        check_size("return", text, value_limit(max_payload_bytes))
    except HanbeonError:
        return _text(returned)[:_REPR_MOST]
    return msgspec.Raw(text.encode())


def _leave(current: OperationContext, context: Any, error: BaseException, max_payload_bytes: int) -> None:
    """Keep the context that a failed operation wrote, if it can be kept, and its error."""
    left: dict[str, Any] = {"error": StepError(type(error).__name__, _message(error)), "fence": current.fence}
    with contextlib.suppress(HanbeonError):
        left["context"] = msgspec.Raw(_context_text(context, max_payload_bytes).encode())
    with contextlib.suppress(HanbeonError):  # The lease may be gone: then this attempt writes nothing any more.
        current.leave(**left)


def _message(error: BaseException) -> str:
    try:
        return str(error).encode(errors="replace").decode()[:_MESSAGE_MOST]
    except Exception as failure:
        return f"its text cannot be shown: {type(failure).__name__}"


def _text(value: Any) -> str:
    try:
        return repr(value).encode(errors="replace").decode()
    except Exception as failure:
        return f"its text cannot be shown: {type(failure).__name__}"
