"""Reads that requests share: open pages ask for the same at the same moment, and it is read once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SharedRead(Generic[T]):
    """Coalesces concurrent reads: callers share the next read, never one already started.

    So it shows whatever was committed before it was asked for, as a read of one's own would.
    """

    def __init__(self, read: Callable[[], Awaitable[T]]) -> None:
        self._read = read
        self._under_way: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None

    async def get(self) -> T:
        task = self._next
        if task is None:
            task = self._next = asyncio.get_running_loop().create_task(self._run(self._under_way))
            task.add_done_callback(_retrieved)
        try:
            # One who leaves takes nothing from the others.
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # Perhaps because the database does not respond: who comes next must not wait for the same.
            self._leave(task)
            raise

    async def _run(self, previous: asyncio.Task[T] | None) -> T:
        if previous is not None and not previous.done():
            await asyncio.wait([previous])
        if self._next is asyncio.current_task():
            self._under_way, self._next = self._next, None
        return await self._read()

    def _leave(self, task: asyncio.Task[T]) -> None:
        if self._next is task:
            self._next = None
        self._under_way = None

    @property
    def idle(self) -> bool:
        return self._next is None and (self._under_way is None or self._under_way.done())


class SharedReads:
    """Shared reads by what they ask for."""

    def __init__(self) -> None:
        self._reads: dict[Hashable, SharedRead[Any]] = {}

    async def get(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """Return what `read` does; `key` says what that is, and whose answers are alike."""
        shared = self._reads.setdefault(key, SharedRead(read))
        try:
            found: T = await shared.get()
            return found
        finally:
            if shared.idle and self._reads.get(key) is shared:
                del self._reads[key]


def _retrieved(task: asyncio.Task[Any]) -> None:
    """Take note of the error: all who asked may have left."""
    if not task.cancelled():
        task.exception()
