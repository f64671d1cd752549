"""A thread that notices when a body blocks the event loop, says which, and renews leases until that is over.

Nothing on the loop runs meanwhile: no heartbeat and no guard. While attempts run, the thread asks the loop for a sign
of life several times a second. Without one it renews the leases over a database connection of its own, opened then, but
not past the deadline of the body, and not for longer than ten minutes. A worker that owns its process then ends it
before the lease does, as the guard would have stopped the work.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from hanbeon.clock import Clock, micros
from hanbeon.domain.durations import brief
from hanbeon.domain.log import LogStream
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.errors import DatabaseRestored
from hanbeon.executors.traceback_text import stack_text
from hanbeon.guarded_task import current_body
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations import instances as instance_rows
from hanbeon.store.operations.lease import renew
from hanbeon.store.store import Store

_log = get_logger("hanbeon.engine")
_TICK_SECONDS = 0.25
_TICKS_A_LEASE = 20
_BLOCKED_TICKS = 4
"""Signs of life in a row that fail to come. Counted: a machine too busy for this thread is no blocked loop."""
_SAID_AFTER_SECONDS = 1.0
_UNKNOWN_SAID_AFTER_SECONDS = 5.0
"""Where no body can be named: on a busy machine the engine's own work may take a second."""
_GROWTH = 10
_LONGEST_SECONDS = 600.0
EXIT_CODE = 71
REMEDY = "make the task a plain function, or call what blocks with asyncio.to_thread"


class Watchdog:
    """Watches one worker's loop, from `start` to `stop`."""

    def __init__(self, store: Store, attempts: RunningAttempts, settings: Settings, clock: Clock) -> None:
        self._store, self._attempts, self._settings, self._clock = store, attempts, settings, clock
        self._tick = min(_TICK_SECONDS, settings.lease / _TICKS_A_LEASE)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._loop_thread = 0
        self._answered = True
        self._blocked_at: float | None = None
        self._ended_at = -1.0
        self.instance = 0
        self.ends_process = False
        """The process is the worker's own, and may be ended with it."""

    def start(self) -> None:
        self._loop, self._loop_thread = asyncio.get_running_loop(), threading.get_ident()
        self._thread = threading.Thread(target=self._run, name="hanbeon-watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread. It is not waited for: it may be in the midst of a renewal."""
        self._stopped.set()

    def was_blocked(self, since: float) -> bool:
        """True if the loop was blocked at some time since then, by `time.monotonic`."""
        return self._blocked_at is not None or self._ended_at >= since

    def _run(self) -> None:
        missed = 0
        while not self._stopped.wait(self._tick):
            if self._answered:
                if missed >= _BLOCKED_TICKS:
                    self._ended_at, self._blocked_at = time.monotonic(), None
                missed = 0
                if len(self._attempts) and not self._ask():
                    return
                continue
            missed += 1
            if missed == _BLOCKED_TICKS:
                self._blocked_at = time.monotonic() - missed * self._tick
                try:
                    asyncio.run(self._attend(self._blocked_at))
                except Exception:
                    _log.exception("watchdog_failed")

    def _ask(self) -> bool:
        """Ask the loop for a sign of life; False if it is closed."""
        self._answered = False
        try:
            self._loop.call_soon_threadsafe(self._answer)
        except RuntimeError:
            return False
        return True

    def _answer(self) -> None:
        self._answered = True

    async def _attend(self, since: float) -> None:
        """Say what blocks the loop, and hold the leases until it answers."""
        attempt = self._blocking()
        say_at = _UNKNOWN_SAID_AFTER_SECONDS if attempt is None else _SAID_AFTER_SECONDS
        renew_at, said = 0.0, False
        async with contextlib.AsyncExitStack() as opened:
            database: Any = None
            while not (self._answered or self._stopped.is_set()):
                now = time.monotonic()
                seconds = now - since
                if seconds >= say_at:
                    self._warn(attempt, seconds, stack=not said)
                    said, say_at = True, seconds * _GROWTH
                if now >= renew_at and (held := self._to_renew(attempt, seconds)):
                    renew_at = now + self._settings.heartbeat
                    try:
                        async with asyncio.timeout(self._settings.lease / 2):
                            database = database or await self._connected(opened)
                            await self._renew(database, held, attempt, seconds)
                    except Exception as error:
                        _log.warning("renewal_failed", error=str(error) or type(error).__name__)
                        renew_at = now + self._tick
                self._end_if_lost(attempt)
                await asyncio.sleep(self._tick)
            if said:
                _log.info("event_loop_free", seconds=round(time.monotonic() - since, 1))

    async def _connected(self, opened: contextlib.AsyncExitStack) -> Any:
        database = self._store.database.twin()
        await database.open()
        opened.push_async_callback(database.close)
        if database.incarnation != self._store.database.incarnation:
            raise DatabaseRestored
        return database

    def _blocking(self) -> Attempt | None:
        """The attempt whose body runs on the loop."""
        with contextlib.suppress(Exception):  # The loop may go on at any moment.
            task: Any = asyncio.current_task(self._loop)
            body = getattr(task, "body", None)
            if body is None and hasattr(task, "get_context"):  # From Python 3.12 on.
                body = task.get_context().get(current_body)
            backend = getattr(body, "backend", None)
            return backend if isinstance(backend, Attempt) else None
        return None

    def _warn(self, attempt: Attempt | None, seconds: float, *, stack: bool) -> None:
        fields: dict[str, Any] = {"seconds": round(seconds, 1), "remedy": REMEDY}
        frame = sys._current_frames().get(self._loop_thread) if stack else None
        text = "" if frame is None else stack_text(frame)
        del frame
        if text:
            fields["exception"] = text
        if attempt is not None:
            fields = {"job": attempt.job.id, "task": attempt.job.task, "attempt": attempt.job.fence, **fields}
            said = f"The body has blocked the event loop of its worker for {brief(seconds)}; {REMEDY}.\n{text}"
            attempt.log(LogStream.ENGINE, f"{said.rstrip()}\n".encode(errors="replace"))
        _log.warning("event_loop_blocked", **fields)

    def _to_renew(self, blocking: Attempt | None, seconds: float) -> Sequence[Attempt]:
        """The attempts to hold on to: all that could be stopped by the loop alone, within their deadlines.

        Processes have supervisors, which stop them in time without the engine.
        """
        if seconds >= _LONGEST_SECONDS or (blocking is not None and self._is_overdue(blocking)):
            return ()
        with contextlib.suppress(RuntimeError):  # The loop goes on, and changes them.
            return [
                each
                for each in self._attempts.held().values()
                if not each.executor.stop_seconds and not self._is_overdue(each)
            ]
        return ()

    def _is_overdue(self, attempt: Attempt) -> bool:
        return attempt.deadline is not None and self._clock.monotonic() >= attempt.deadline

    async def _renew(self, database: Any, held: Sequence[Attempt], blocking: Attempt | None, seconds: float) -> None:
        leases = [attempt.lease for attempt in held]
        sent_at = self._clock.monotonic()

        async def write(tx: Any) -> set[int]:
            facts = await renew(tx, leases, micros(self._settings.lease))
            job = None if blocking is None else blocking.job.seq
            await instance_rows.note_blocked(tx, self.instance, job, micros(seconds))
            return facts.renewed

        renewed, _ = await database.transact(write)
        for attempt in held:
            if attempt.job.seq in renewed:
                attempt.renewed(sent_at, self._settings.lease)

    def _end_if_lost(self, blocking: Attempt | None) -> None:
        """End the process before the lease of what blocks it ends."""
        if not self.ends_process or self._answered:
            return
        lost: Sequence[Attempt] = []
        with contextlib.suppress(RuntimeError):  # The loop goes on, and changes them.
            lost = list(self._attempts) if blocking is None else [blocking]
        if not lost or any(self._clock.monotonic() < each.give_up_at for each in lost):
            return
        job = lost[0].job
        _log.error("blocked_worker_ends", job=job.id, task=job.task, attempt=job.fence, remedy=REMEDY)
        logging.shutdown()
        os._exit(EXIT_CODE)
