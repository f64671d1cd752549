"""Containment of bodies: neither SystemExit or KeyboardInterrupt nor a call of its `stop` ends the event loop.

asyncio passes the two exits on from whatever raises them, and the loop stops, with every other job on it. A loop asks
`call_soon` and its siblings for each step of a task and each callback, so that is where the exits of bodies are caught:
by the context in which the step runs, which a body's tasks and callbacks inherit from it. Steps of everyone else pass
unchanged, and so does a real Ctrl-C outside of bodies.
"""

from __future__ import annotations

import asyncio
import contextvars
from asyncio import futures
from collections.abc import Callable
from types import MethodType
from typing import Any

from hanbeon.guarded_task import BodyExits, current_body

EXITS = (SystemExit, KeyboardInterrupt)
_MARK = "_hanbeon_contains_exits"
# asyncio's own transports call their protocols from here. uvloop has no such methods: it closes a transport whose
# protocol raises anything, and goes on.
_OF_TRANSPORTS = ("_add_reader", "_add_writer")
_NOT_FOR_BODIES = ("stop", "shutdown_asyncgens", "shutdown_default_executor")
# The end of `asyncio.sleep`, the most common timer. It runs no code of a body; None if a Python names it otherwise.
_END_OF_SLEEP = getattr(futures, "_set_result_unless_cancelled", None)


class _Contained:
    """A callback of a body."""

    __slots__ = ("_body", "_callback")

    def __init__(self, callback: Callable[..., Any], body: BodyExits) -> None:
        self._callback, self._body = callback, body

    def __call__(self, *args: Any) -> Any:
        try:
            return self._callback(*args)
        except EXITS as error:
            self._body.exited(error)
            return None

    def __repr__(self) -> str:
        return repr(self._callback)


def contain_exits(loop: asyncio.AbstractEventLoop) -> None:
    """Contain the exits of bodies on this loop, from now on; asyncio's own loop or uvloop. Harmless if repeated."""
    if getattr(loop, _MARK, False):
        return
    setattr(loop, _MARK, True)
    setattr(loop, "call_soon", _contained_call_soon(loop.call_soon))  # noqa: B010 - a method is not assignable for mypy
    setattr(loop, "call_soon_threadsafe", _contained(loop.call_soon_threadsafe, 0))  # noqa: B010
    for name in ("call_later", "call_at", "add_reader", "add_writer", *_OF_TRANSPORTS):
        if (method := getattr(loop, name, None)) is not None:
            setattr(loop, name, _contained(method, 1))
    for name in _NOT_FOR_BODIES:
        setattr(loop, name, _not_for_bodies(getattr(loop, name)))


def _contained_call_soon(call_soon: Callable[..., asyncio.Handle]) -> Callable[..., asyncio.Handle]:
    """Return `call_soon` with callbacks of bodies contained.

    Every step of every task on the loop comes through here. So the steps of a body's own task are left as they are: the
    coroutine in it returns its exits. And the usual single argument is passed without unpacking.
    """

    def contained_call_soon(
        callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        body = current_body.get() if context is None else context.get(current_body)
        if body is not None and not _is_step(callback, body.task):
            callback = _Contained(callback, body)
        if len(args) == 1:
            return call_soon(callback, args[0], context=context)
        return call_soon(callback, *args, context=context)

    return contained_call_soon


def _is_step(callback: Callable[..., Any], task: asyncio.Task[Any] | None) -> bool:
    """True for the steps of a task: they are built in, where its methods that may run code of others are not."""
    return task is not None and getattr(callback, "__self__", None) is task and type(callback) is not MethodType


def _contained(schedule: Callable[..., Any], place: int) -> Callable[..., Any]:
    """Return the method with the callback at `place` contained."""

    def contained(*args: Any, **options: Any) -> Any:
        context: contextvars.Context | None = options.get("context")
        body = current_body.get() if context is None else context.get(current_body)
        if body is None or len(args) <= place or args[place] is _END_OF_SLEEP:
            return schedule(*args, **options)
        if isinstance(args[place], _Contained):  # asyncio's call_later calls call_at.
            return schedule(*args, **options)
        return schedule(*args[:place], _Contained(args[place], body), *args[place + 1 :], **options)

    return contained


def _not_for_bodies(method: Callable[[], Any]) -> Callable[[], Any]:
    """Return the method for everyone but bodies."""

    def refusing(*args: Any, **options: Any) -> Any:
        if current_body.get() is not None:
            raise RuntimeError(f"a task must not call {method.__name__}() of the event loop: its worker runs there")
        return method(*args, **options)

    return refusing
