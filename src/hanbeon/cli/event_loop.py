"""Runs a command's coroutine, on uvloop where it is available."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from hanbeon.guarded_task import guard_all_tasks

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own and return its result."""
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            guard_all_tasks(runner.get_loop())
            runner.get_loop().set_exception_handler(_report_unless_interrupted)
            return runner.run(_interruptible(work))
    except RuntimeError as error:
        # uvloop cannot be closed after a Ctrl-C in the midst of its own code, which a second one may meet.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


async def _interruptible(work: Coroutine[Any, Any, T]) -> T:
    """Let Ctrl-C end the command even in the midst of a body, which may not end it by itself."""
    interrupt = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(interrupt):
        return await work
    # Python calls the handler in the context of whatever runs.
    signal.signal(signal.SIGINT, lambda *args: contextvars.Context().run(interrupt, *args))
    try:
        return await work
    finally:
        signal.signal(signal.SIGINT, interrupt)


def _report_unless_interrupted(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log unhandled errors, except the KeyboardInterrupt of a second Ctrl-C."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # There is no uvloop for this platform.
        return None
    return uvloop.new_event_loop
