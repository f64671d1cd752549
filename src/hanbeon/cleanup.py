"""Clean-ups that a cancellation cannot skip.

An `await` in a `finally`, an `except`, an `__aexit__` or a `close` is skipped by a second cancellation: a deadline that
insists, an `asyncio.timeout` around it, the end of the program. What it should have let go of stays: a lock, a
connection, a process. It is awaited through `to_the_end` instead, and has limits of its own for what may not answer.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from hanbeon.guarded_task import enter_body

P = ParamSpec("P")
T = TypeVar("T")
_here: contextvars.ContextVar[object] = contextvars.ContextVar("hanbeon_cleanup", default=None)
pending: set[CleanUp[Any]] = set()
"""Those under way, of all loops: a loop refers to its tasks weakly."""


class CleanUp(asyncio.Task[T]):
    """A task that only what runs in it can cancel, such as an `asyncio.timeout`: known by the context."""

    def __init__(self, work: Coroutine[Any, Any, T], **options: Any) -> None:
        self._own = _here.get()
        super().__init__(work, **options)

    def cancel(self, msg: Any = None) -> bool:
        return _here.get() is self._own and super().cancel(msg)


async def to_the_end(work: Coroutine[Any, Any, T], on_cancel: Callable[[], None] | None = None) -> T:
    """Run a clean-up and return when it has ended; a cancellation of the caller takes effect afterwards.

    `on_cancel` is called then: for what a cancelled caller need not wait for.
    """
    task = contextvars.copy_context().run(_start, work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
            if on_cancel is not None:
                on_cancel()
    if cancelled is None:
        return task.result()
    _report(task)
    raise cancelled


def cleanup(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Make a method such as `close` one that runs to its end."""

    @functools.wraps(method)
    async def run(*args: P.args, **options: P.kwargs) -> T:
        return await to_the_end(method(*args, **options))

    return run


def _start(work: Coroutine[Any, Any, T]) -> CleanUp[T]:
    enter_body(None)  # It is the engine's, whichever body has made it necessary.
    _here.set(object())
    task = CleanUp(work, loop=asyncio.get_running_loop(), context=contextvars.copy_context())
    pending.add(task)
    task.add_done_callback(pending.discard)
    return task


def _report(task: CleanUp[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler(
            {"message": "a clean-up failed beside a cancellation", "exception": error, "task": task}
        )
