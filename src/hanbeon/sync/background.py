"""An App in a thread of its own, with an event loop, for callers in any other thread and in forked processes.

Nothing of it crosses a fork: neither a socket that two processes would share, nor a SQLite handle, whose locks
do not follow it. It is closed before, and both processes open their own when they next need it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from hanbeon.app import App
from hanbeon.errors import AppNotOpen, DatabaseUnavailable, InsideEventLoop
from hanbeon.rule import Rule

T = TypeVar("T")
_PATIENCE = 5.0
_CLOSED = Rule("sync_app_closed")


class Background:
    """Opens with the first call. May be called from many threads at once."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._closed = False
        self._life: _Life | None = None
        # Held while it opens, closes or forks, never during a call.
        self.gate = threading.Lock()
        _all.add(self)

    def open(self) -> None:
        _check_no_running_loop()
        with self.gate:
            self._closed = False
            self._living()

    def close(self) -> None:
        """Close it, if it is open. Calls in progress end with an error."""
        _check_no_running_loop()
        with self.gate:
            self._closed = True
            self.end()

    @property
    def is_open(self) -> bool:
        return self._life is not None

    def run(self, work: Callable[[App], Awaitable[T]], *, patient: bool = False) -> T:
        """Return the result of the work. `patient` work only waits, so it is started again after a fork."""
        _check_no_running_loop()
        while True:
            with self.gate:
                life = self._living()
                future = life.start(work, patient)
            try:
                return future.result()
            except concurrent.futures.CancelledError:
                if self._closed:
                    raise AppNotOpen(_CLOSED) from None
                if not patient:
                    raise DatabaseUnavailable(Rule("forked_during_call")) from None
            finally:
                # On Ctrl-C in particular: nothing waits for the result any more.
                future.cancel()

    @staticmethod
    def once(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run work that needs no open App, on a temporary event loop."""
        _check_no_running_loop()
        return asyncio.run(work())

    def _living(self) -> _Life:
        if self._closed:
            raise AppNotOpen(_CLOSED)
        if self._life is None:
            self._life = _Life(self._app.twin())
        return self._life

    def end(self) -> None:
        """End the thread and everything it has open; the caller holds the gate."""
        life, self._life = self._life, None
        if life is not None:
            life.end()


class _Life:
    """One thread, its event loop and an open App on it."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.loop = asyncio.new_event_loop()
        self._short: set[concurrent.futures.Future[Any]] = set()
        self._patient: set[asyncio.Task[Any]] = set()
        # A daemon: a program may end without closing; what was acknowledged is committed.
        self._thread = threading.Thread(target=self._live, name="hanbeon-sync", daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(app.open(), self.loop).result()
        except BaseException:
            self.end()
            raise

    def start(self, work: Callable[[App], Awaitable[T]], patient: bool) -> concurrent.futures.Future[T]:
        async def call() -> T:
            task = asyncio.current_task()
            if patient and task is not None:
                self._patient.add(task)
                task.add_done_callback(self._patient.discard)
            return await work(self.app)

        future = asyncio.run_coroutine_threadsafe(call(), self.loop)
        if not patient:
            self._short.add(future)
            future.add_done_callback(self._short.discard)
        return future

    def end(self) -> None:
        """Let short calls finish, cancel patient ones, and close."""
        concurrent.futures.wait(list(self._short), _PATIENCE)
        with contextlib.suppress(DatabaseUnavailable, concurrent.futures.CancelledError):
            asyncio.run_coroutine_threadsafe(self._close(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()

    async def _close(self) -> None:
        for task in list(self._patient):
            task.cancel()
        await asyncio.gather(*self._patient, return_exceptions=True)
        await self.app.close()

    async def _leave_nothing(self) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self.loop.shutdown_asyncgens()
        await self.loop.shutdown_default_executor()

    def _live(self) -> None:
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(self._leave_nothing())
        finally:
            self.loop.close()


def _check_no_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise InsideEventLoop(Rule("inside_event_loop"))


_all: weakref.WeakSet[Background] = weakref.WeakSet()
_forking: list[Background] = []


def _before_fork() -> None:
    _forking[:] = list(_all)
    for each in _forking:
        each.gate.acquire()
        each.end()


def _after_fork_in_parent() -> None:
    while _forking:
        _forking.pop().gate.release()


def _after_fork_in_child() -> None:
    while _forking:
        _forking.pop().gate = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
