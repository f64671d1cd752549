"""Containment of SystemExit and KeyboardInterrupt: raised in a task or callback of a body, they end no event loop.

asyncio passes these two on from whatever raises them, and the loop stops, with every other job on it. A loop asks
`call_soon` and its siblings for each step of a task and each callback, so that is where the exits of bodies are caught:
by the context in which the step runs, which a body's tasks and callbacks inherit from it. Steps of everyone else pass
unchanged, and so does a real Ctrl-C outside of bodies.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any

EXITS = (SystemExit, KeyboardInterrupt)
_MARK = "_hanbeon_contains_exits"
# asyncio's own transports call their protocols from here. uvloop has no such methods: it closes a transport whose
# protocol raises anything, and goes on.
_OF_TRANSPORTS = ("_add_reader", "_add_writer")


class BodyExits:
    """Receives the exits of one body. Others' contexts may keep it for longer than the body lasts."""

    __slots__ = ()

    def exited(self, error: BaseException) -> None:
        """A task or callback of the body raised SystemExit or KeyboardInterrupt."""


_body: contextvars.ContextVar[BodyExits | None] = contextvars.ContextVar("hanbeon_body_exits", default=None)
enter_body = _body.set
"""Make the current context, and those copied from it, belong to a body."""


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
    call_soon = loop.call_soon

    def contained_call_soon(
        callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        body = _body.get() if context is None else context.get(_body)
        if body is None:
            return call_soon(callback, *args, context=context)
        return call_soon(_Contained(callback, body), *args, context=context)

    setattr(loop, _MARK, True)
    setattr(loop, "call_soon", contained_call_soon)  # noqa: B010 - a method is not assignable for the type checker
    setattr(loop, "call_soon_threadsafe", _contained(loop.call_soon_threadsafe, 0))  # noqa: B010
    for name in ("call_later", "call_at", "add_reader", "add_writer", *_OF_TRANSPORTS):
        if (method := getattr(loop, name, None)) is not None:
            setattr(loop, name, _contained(method, 1))


def _contained(schedule: Callable[..., Any], place: int) -> Callable[..., Any]:
    """Return the method with the callback at `place` contained."""

    def contained(*args: Any, **options: Any) -> Any:
        context: contextvars.Context | None = options.get("context")
        body = _body.get() if context is None else context.get(_body)
        # asyncio's call_later calls call_at.
        if body is None or len(args) <= place or isinstance(args[place], _Contained):
            return schedule(*args, **options)
        return schedule(*args[:place], _Contained(args[place], body), *args[place + 1 :], **options)

    return contained
