"""Runs bodies in turn in one asyncio task, for as long as they end without waiting.

A task for each body costs more than many bodies do. So the bodies that are to begin form a batch, which one task runs
through, each body in its own context. A body that waits keeps that task as its own, so that timeouts, task groups and
libraries that go by the current task see one and the same; the others of its batch begin in tasks of their own, and so
do the next ones of its kind for a while. A task that somebody may still know after a body has ended in it, or that was
cancelled, runs no other body: to the next one it would not look like its own.
"""

from __future__ import annotations

import asyncio
import sys
import weakref
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, Protocol

from hanbeon.executors.containment import contain_exits
from hanbeon.guarded_task import GuardedTask, guarded_task

_TURN_SECONDS = 0.01
"""For so long bodies run without anything else on the loop; a single one may take longer."""
_WAITING_SECONDS = 1.0
_KINDS_AT_MOST = 1_000

Body = Coroutine[Any, Any, tuple[Any, BaseException | None]]


class Work(Protocol):
    """A body that has not begun."""

    @property
    def context(self) -> Context: ...

    @property
    def kind(self) -> object: ...

    @property
    def stopped(self) -> bool: ...

    def body(self) -> Body: ...

    def begin(self) -> None: ...

    def begin_within(self, task: GuardedTask[Any]) -> None: ...

    def ended(
        self,
        result: tuple[Any, BaseException | None] = (None, None),
        *,
        error: BaseException | None = None,
        cancelled: bool = False,
    ) -> None: ...


class BodyBatch:
    """The bodies that are to begin."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._now = monotonic
        self._ready: deque[Work] = deque()
        self._runner: GuardedTask[None] | None = None
        """The task that will run them, or does."""
        self._waiting: dict[object, float] = {}
        """Kinds whose bodies wait, and until when that is believed."""

    def __len__(self) -> int:
        return len(self._ready)

    def add(self, work: Work) -> None:
        """Have the body begin in a moment."""
        if self._waiting and self._waits(work.kind):
            work.begin()
            return
        self._ready.append(work)
        if self._runner is None or self._runner.done():
            self._run_next()

    def _waits(self, kind: object) -> bool:
        until = self._waiting.get(kind)
        if until is None:
            return False
        if self._now() < until:
            return True
        del self._waiting[kind]
        return False

    def _run_next(self) -> None:
        contain_exits(asyncio.get_running_loop())
        self._runner = guarded_task(self._run(), name="hanbeon-bodies")

    async def _run(self) -> None:
        task = asyncio.current_task()
        assert isinstance(task, GuardedTask)
        try:
            while self._ready:
                if not await self._turn(task):
                    return
                await asyncio.sleep(0)
        finally:
            if self._runner is task:
                # Somebody cancelled it between two bodies, or a defect ended it: the others must begin nevertheless.
                self._runner = None
                if self._ready:
                    self._run_next()

    async def _turn(self, task: GuardedTask[Any]) -> bool:
        """Run bodies for a while; False if the task is not to be used for any other."""
        until = self._now() + _TURN_SECONDS
        known = _known(task)
        while self._ready:
            work = self._ready.popleft()
            if work.stopped:
                work.ended(cancelled=True)
                continue
            suspended = _begin(work, task)
            if suspended is not None:
                self._let_go(work)
                await _finish(work, task, suspended)
                return False
            if _is_cancelled(task) or _known(task) != known:
                return False
            if self._now() >= until:
                break
        return True

    def _let_go(self, waiting: Work) -> None:
        """A body waits, in the task that ran the batch: the others begin without it."""
        self._runner = None
        if len(self._waiting) >= _KINDS_AT_MOST:
            self._waiting.clear()
        self._waiting[waiting.kind] = self._now() + _WAITING_SECONDS
        rest, self._ready = self._ready, deque()
        for work in rest:
            work.begin()


def _begin(work: Work, task: GuardedTask[Any]) -> _Suspended | None:
    """Run a body until it ends, or to its first wait."""
    work.begin_within(task)
    body = work.body()
    try:
        awaited = work.context.run(body.send, None)
    except StopIteration as end:
        work.ended(end.value, cancelled=_is_cancelled(task))
    except asyncio.CancelledError:
        work.ended(cancelled=True)
    except BaseException as error:
        work.ended(error=error)
    else:
        return _Suspended(work.context, body, awaited)
    return None


async def _finish(work: Work, task: asyncio.Task[Any], suspended: _Suspended) -> None:
    """Run the rest of a body that waits."""
    try:
        result = await suspended
    except asyncio.CancelledError:
        work.ended(cancelled=True)
    except BaseException as error:
        work.ended(error=error)
    else:
        work.ended(result, cancelled=_is_cancelled(task))


def _is_cancelled(task: asyncio.Task[Any]) -> bool:
    """True if a cancellation of the running task has not reached it yet: it would reach whatever it awaits next."""
    return bool(getattr(task, "_must_cancel", False))


def _known(task: asyncio.Task[Any]) -> tuple[int, int]:
    """Return how many references there are to the task: more than before, and somebody has kept one."""
    return sys.getrefcount(task), weakref.getweakrefcount(task)


class _Suspended:
    """A body that has begun and waits: awaiting it runs the rest, every step in the body's own context."""

    __slots__ = ("_awaited", "_body", "_context")

    def __init__(self, context: Context, body: Body, awaited: Any) -> None:
        self._context, self._body, self._awaited = context, body, awaited

    def __await__(self) -> Generator[Any, Any, tuple[Any, BaseException | None]]:
        run, body, awaited = self._context.run, self._body, self._awaited
        try:
            while True:
                try:
                    sent = yield awaited
                except BaseException as error:
                    awaited = run(body.throw, error)
                else:
                    awaited = run(body.send, sent)
        except StopIteration as end:
            result: tuple[Any, BaseException | None] = end.value
            return result
