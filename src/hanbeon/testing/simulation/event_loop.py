"""One event loop for many processes, in virtual time, with the order decided by a seed."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any, TypeVarTuple, Unpack

from hanbeon.testing.simulation.threads import GreenThread
from hanbeon.testing.simulation.world import Node, World, current_node

_STEP_SECONDS = 2e-5
_DIGESTED_EVERY = 16
Ts = TypeVarTuple("Ts")

_Due = tuple[float, int, "Node | None", "asyncio.TimerHandle | Callable[[], None]"]


class SimulatedLoop(asyncio.BaseEventLoop):
    """Chooses among processes and their threads, never among the callbacks of one process: asyncio keeps their order.

    Time stands still while anything can run, but for some microseconds a step, and jumps to the next timer otherwise.
    """

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        world.loop = self
        self._due: list[_Due] = []
        self._count = itertools.count()
        self._own: deque[asyncio.Handle] = deque()
        """Of the simulation itself: always first."""
        self.slow_callback_duration = float("inf")

    def time(self) -> float:
        return self._world.now

    def call_soon(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        context = copy_context() if context is None else context
        handle = asyncio.Handle(callback, args, self, context)
        node = context.get(current_node)
        (self._own if node is None else node.ready).append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        context = copy_context() if context is None else context
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._due, (when, next(self._count), context.get(current_node), timer))
        return timer

    def call_later(
        self, delay: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._world.now + delay, callback, *args, context=context)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        node = current_node.get()
        assert node is not None
        return GreenThread.run(node, func, *args)

    async def create_unix_connection(
        self, protocol_factory: Callable[[], Any], path: Any = None, **_: Any
    ) -> tuple[Any, Any]:
        return await self._world.network.connect(protocol_factory)

    def at(self, when: float, node: Node | None, step: Callable[[], None]) -> None:
        """Have a step of a node's thread run at this time; None: of the simulation itself."""
        heapq.heappush(self._due, (when, next(self._count), node, step))

    # The part of a loop that asyncio's base class leaves open

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        pass

    def _process_events(self, event_list: Any) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def _run_once(self) -> None:
        world, due = self._world, self._due
        if world.is_over:
            raise RuntimeError("the run takes too long")
        while due and due[0][0] <= world.now:
            self._arrived(heapq.heappop(due))
        if self._own:
            self._run(self._own.popleft(), None)
            return
        queues: list[tuple[deque[Any], Node]] = []
        for node in world.nodes:
            if node.frozen_until <= world.now:
                if node.ready:
                    queues.append((node.ready, node))
                if node.steps:
                    queues.append((node.steps, node))
        if not queues:
            if not due:
                raise RuntimeError("nothing can ever run again in the simulation")
            world.now = due[0][0]
            return
        queue, node = queues[0] if len(queues) == 1 else world.choices.choice(queues)
        self._run(queue.popleft(), node)

    def _arrived(self, entry: _Due) -> None:
        _, _, node, what = entry
        if isinstance(what, asyncio.TimerHandle):
            if not what.cancelled():
                (self._own if node is None else node.ready).append(what)
        elif node is None:
            what()
        else:
            node.steps.append(what)

    def _run(self, what: asyncio.Handle | Callable[[], None], node: Node | None) -> None:
        world = self._world
        world.stepped += 1
        if node is not None:
            world.now += world.draw() * _STEP_SECONDS
            if world.stepped % _DIGESTED_EVERY == 0:
                world.digest.update(b"%s %d" % (node.name.encode(), round(world.now * 1e7)))
        if isinstance(what, asyncio.Handle):
            if not what.cancelled():
                what._run()
        else:
            what()
