"""Threads of simulated processes: synchronous code in greenlets, which others interrupt wherever it pauses."""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from hanbeon.extras import extra
from hanbeon.testing.simulation.plan import Fault, Moment
from hanbeon.testing.simulation.world import Node, current_node

with extra("testing", "a simulation"):
    import greenlet

T = TypeVar("T")
_ENDING = ("succeed", "complete")
"""Words in the names of the operations that record ends of bodies."""


def in_thread() -> bool:
    return greenlet.getcurrent().parent is not None


def pause(seconds: float) -> None:
    """Let others run. It never returns if the process is killed meanwhile."""
    _switch_out(seconds)


def wait(future: asyncio.Future[T]) -> T:
    """Block the calling thread until the future is done."""
    _switch_out(future)
    return future.result()


def leave() -> None:
    """Let nothing of the calling thread run any more: its process is dead."""
    _switch_out(None)


def _switch_out(until: float | asyncio.Future[Any] | None) -> None:
    parent = greenlet.getcurrent().parent
    assert parent is not None
    parent.switch(until)


class GreenThread:
    """Runs one function in a thread of a process."""

    def __init__(self, node: Node, function: Callable[[], None], context: contextvars.Context | None = None) -> None:
        self._node = node
        self._is_killed = False
        self._greenlet = greenlet.greenlet(function)
        self._greenlet.gr_context = context or node.context.copy()
        # A greenlet that is collected runs its `finally` blocks, which the killed process does not.
        node.threads[self._greenlet] = node.world.now

    @classmethod
    def run(cls, node: Node, function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Run the function in a thread of its own; return its future result."""
        future: asyncio.Future[T] = node.world.loop.create_future()
        thread = cls(node, partial(_run, node, future, partial(function, *args)))
        node.world.later(node, latency(node), thread.resume)
        return future

    def kill(self) -> None:
        """Let nothing more of it run, not even its `finally` blocks."""
        if self._is_killed or self._greenlet.dead:
            return
        self._is_killed = True
        del self._node.threads[self._greenlet]
        self._node.kept.append(self._greenlet)

    def resume(self) -> None:
        if self._is_killed:
            return
        until = self._greenlet.switch()
        if self._greenlet.dead:
            del self._node.threads[self._greenlet]
        elif isinstance(until, asyncio.Future):
            until.add_done_callback(lambda _: self._node.steps.append(self.resume))
        elif until is not None:
            self._node.world.later(self._node, until, self.resume)


def _run(node: Node, future: asyncio.Future[Any], function: Callable[[], Any]) -> None:
    result, error = None, None
    try:
        result = function()
    except BaseException as raised:
        error = raised
    node.world.later(node, latency(node) / 4, partial(_settle, future, result, error))


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


def latency(node: Node) -> float:
    """Return how long a call takes to reach a thread now."""
    world = node.world
    slow = world.draw() * 0.3 if world.now < node.slow_until else 0.0
    draw = world.draw()
    return slow + (2e-5 + draw * 3e-4 if draw < 0.98 else draw * 0.05)


_Call = tuple["asyncio.Future[Any]", Callable[..., Any], tuple[Any, ...]]


class SimulatedThread:
    """The thread of a database connection: its calls run one after the other."""

    def __init__(self, name: str) -> None:
        node = current_node.get()
        assert node is not None
        self.node, self.name = node, name
        self._calls: deque[_Call] = deque()
        self._is_busy = self._is_closed = False
        self._last: _Call | None = None

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        if self._is_closed:
            raise RuntimeError("the connection is closed")
        future: asyncio.Future[T] = self.node.world.loop.create_future()
        self._calls.append((future, function, args))
        self._next()
        return await future

    def close(self, last: Callable[[], None] = lambda: None) -> asyncio.Future[None]:
        ended: asyncio.Future[None] = self.node.world.loop.create_future()
        if self._is_closed:
            ended.set_result(None)
            return ended
        self._is_closed = True
        self._last = (ended, last, ())
        self._next()
        return ended

    def _next(self) -> None:
        if not self._is_busy and (self._calls or self._last is not None):
            self._is_busy = True
            self.node.world.later(self.node, latency(self.node), self._begin)

    def _begin(self) -> None:
        if (fault := self._due()) is not None:
            if self.node.is_dead:
                return
            self.node.world.strike(self.node, fault)
            self.node.steps.appendleft(self._begin)
            return
        call, skippable = (self._calls.popleft(), True) if self._calls else (self._last, False)
        assert call is not None
        if not skippable:
            self._last = None
        if skippable and call[0].cancelled():
            self._ended()
            return
        GreenThread(self.node, partial(self._work, *call)).resume()

    def _due(self) -> Fault | None:
        moments = [Moment.CALL]
        if self._calls and any(word in repr(self._calls[0][1:]) for word in _ENDING):
            moments.append(Moment.RECORD)
        return self.node.due(*moments)

    def _work(self, future: asyncio.Future[Any], function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        _run(self.node, future, partial(function, *args))
        self._ended()

    def _ended(self) -> None:
        self._is_busy = False
        self._next()
