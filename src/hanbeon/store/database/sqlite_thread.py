"""The threads and connections that SQLite is used with, one thread a connection."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from hanbeon.store.database.drivers import apsw

T = TypeVar("T")


class ConnectionThread(Protocol):
    """Runs calls one after the other, in the order they came."""

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Run the function. A caller that is cancelled does not wait; a function that has begun runs to its end."""
        ...

    def close(self, last: Callable[[], None] = lambda: None) -> asyncio.Future[None]:
        """End after the calls that it has and a last one, which runs in any case: nobody can cancel that."""
        ...


class SqliteHost:
    """The threads, connections and time of one process. A simulation has its own."""

    def thread(self, name: str) -> ConnectionThread:
        return SqliteThread(name)

    def connect(self, path: Path) -> apsw.Connection:
        # It exists: opening must never leave an empty file in place of one that was deleted.
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)

    def monotonic(self) -> float:
        """Seconds, for limits on waiting and on long writes: not the App's clock, which may stand still in a test."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let a connection's thread wait."""
        time.sleep(seconds)


class SqliteThread:
    """A thread with a plain queue: a call costs half of what an executor does, and there are several for every job."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._closed = False
        self._last: _Call | None = None
        # A daemon, which is not waited for before `atexit`: then `_stop` ends it, if nobody has closed the database.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()
        atexit.register(self._stop)

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        if self._closed:
            raise RuntimeError("the connection is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._calls.put((loop, future, function, args))
        return await future

    def close(self, last: Callable[[], None] = lambda: None) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        if self._closed:
            ended.set_result(None)
            return ended
        self._closed = True
        self._last = (loop, ended, last, ())
        self._calls.put(None)
        return ended

    def _stop(self) -> None:
        # Python must not end while SQLite is in a call: it would wait for a lock that the frozen thread holds.
        self._closed = True
        self._calls.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            if not call[1].cancelled():
                _run(*call)
            del call  # Nothing of it may live until the next one comes.
        if self._last is not None:
            _run(*self._last)
            atexit.unregister(self._stop)


_Call = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[..., Any], tuple[Any, ...]]


def _run(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[Any],
    function: Callable[..., Any],
    args: tuple[Any, ...],
) -> None:
    result, error = None, None
    try:
        result = function(*args)
    except BaseException as raised:
        error = raised
    with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits for it.
        loop.call_soon_threadsafe(_settle, future, result, error)


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
