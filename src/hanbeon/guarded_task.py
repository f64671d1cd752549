"""Tasks of the event loop that no body of a job can cancel but its own.

`asyncio.all_tasks()` shows a body the loops of its worker and the bodies of other jobs. A body that cancels all that
it finds there fails by itself, and nothing else ends: the caller is known by the context, which the tasks, callbacks
and threads of a body inherit from it.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class BodyExits:
    """Receives the exits of one body. Others' contexts may keep it for longer than the body lasts."""

    __slots__ = ()

    @property
    def task(self) -> asyncio.Task[Any] | None:
        """The task in which the body runs, whose coroutine returns exits instead of raising them; None if in none."""
        return None

    def printed(self, stream: str, data: bytes) -> None:
        """The body printed or logged."""

    def exited(self, error: BaseException) -> None:
        """A task or callback of the body raised SystemExit or KeyboardInterrupt."""


current_body: contextvars.ContextVar[BodyExits | None] = contextvars.ContextVar("hanbeon_body_exits", default=None)
enter_body = current_body.set
"""Make the current context, and those copied from it, belong to a body."""


class GuardedTask(asyncio.Task[T]):
    """A task that is cancelled from outside of bodies, by the body that made it, and by the body that runs in it."""

    __slots__ = ("_is_asked", "body", "creator")

    def __init__(self, coro: Coroutine[Any, Any, T], **options: Any) -> None:
        self.body: BodyExits | None = None
        self.creator = current_body.get()
        self._is_asked = False
        super().__init__(coro, **options)

    def cancel(self, msg: Any = None) -> bool:
        asking = current_body.get()
        if asking is not None and asking is not self.body and asking is not self.creator:
            return False
        if self._is_asked:  # It waits for itself, by way of others: asked again from within, and so on without end.
            return False
        self._is_asked = True
        try:
            return super().cancel(msg)
        finally:
            self._is_asked = False


def guarded_task(
    work: Coroutine[Any, Any, T], *, name: str | None = None, context: contextvars.Context | None = None
) -> GuardedTask[T]:
    """Run a coroutine of the engine on the running loop."""
    return GuardedTask(work, loop=asyncio.get_running_loop(), name=name, context=context)


def guard_all_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Guard whatever is started on a loop outside of bodies, by libraries too: only for a loop that is Hanbeon's own.

    In a program of somebody else, a body may rightly close what the program has opened, with the tasks in it.
    """
    loop.set_task_factory(_task_factory)


def _task_factory(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
    kind = GuardedTask if current_body.get() is None else asyncio.Task
    return kind(work, loop=loop, **options)


def cancel_as(body: BodyExits, task: asyncio.Task[Any]) -> None:
    """Cancel a task of the body, and of what it waits for no more than the body itself could."""
    contextvars.copy_context().run(_cancel_as, body, task.cancel)


def _cancel_as(body: BodyExits, cancel: Callable[[], bool]) -> None:
    enter_body(body)
    cancel()
