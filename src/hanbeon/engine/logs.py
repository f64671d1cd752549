"""Writes the output of all attempts to the database, in batches: while they run, and before each one's end."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from hanbeon.clock import Clock, micros
from hanbeon.domain.job import Claimed
from hanbeon.domain.log import LogStream
from hanbeon.domain.log_buffer import LogBuffer
from hanbeon.errors import DatabaseUnavailable, TransactionTooLong
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.logs import LogWrite
from hanbeon.store.store import Store
from hanbeon.store.user_transaction import UserTransaction, is_blocking

_log = get_logger("hanbeon.engine")
_FIRST_SECONDS = 0.05
_BETWEEN_SECONDS = 0.25
_FLOODED_SECONDS = 1.0
_ASLEEP_SECONDS = 3600.0
_BATCH_BYTES = 1_048_576


class Printing(Protocol):
    """The attempt that a log is of."""

    job: Claimed
    given_at: float
    """When the claim was answered: a moment after the database's `started_at`."""
    user_transaction: UserTransaction | None
    printed: AttemptLog | None

    @property
    def lease(self) -> Lease: ...


class AttemptLog:
    """The log of one attempt. Bodies print into it from any thread; only the event loop writes it."""

    def __init__(self, attempt: Printing, logs: Logs, clock: Clock, limit: int) -> None:
        self.attempt = attempt
        self.due_at = 0.0
        self._logs, self._clock = logs, clock
        # Reentrant: a finalizer may print while its thread holds it.
        self._lock = threading.RLock()
        self._buffer = LogBuffer(limit)
        self._is_closed = self._is_over = self._is_adding = False
        self._has_called = False

    @property
    def is_clean(self) -> bool:
        """True if nothing of it is left to write."""
        with self._lock:
            return self._is_over or self._buffer.is_clean

    @property
    def has_more(self) -> bool:
        """True if there is more than what was offered last."""
        with self._lock:
            return self._buffer.has_more

    def take(self, stream: LogStream, data: bytes) -> None:
        """Take output. Waits for nothing but another thread that does the same, and never raises."""
        with self._lock:
            if self._is_closed or self._is_adding:
                return
            self._is_adding = True
            try:
                self._buffer.add(stream, data, self._now_us())
            finally:
                self._is_adding = False
            if self._has_called or not self._buffer.has_news:
                return
            self._has_called = True
        self._logs.call(self)

    def finish(self) -> None:
        """End the log with the body: incomplete lines are complete now, and later output of its threads is dropped."""
        with self._lock:
            self._is_closed = True
            self._buffer.finish(self._now_us())

    async def write_rest(self, transaction: UserTransaction | None) -> None:
        """Returns when the database has all of it, or never will; see `Logs.write_rest`."""
        await self._logs.write_rest(self, transaction)

    def offer(self) -> LogWrite | None:
        with self._lock:
            self._has_called = False
            offer = None if self._is_over else self._buffer.offer()
        return None if offer is None else LogWrite(self.attempt.lease, offer)

    def taken(self, now: float) -> None:
        with self._lock:
            self._buffer.taken()
            self.due_at = now + (_FLOODED_SECONDS if self._buffer.is_flooded else _BETWEEN_SECONDS)

    def refuse(self) -> None:
        """Another instance has the job. After the body's end that needs no warning: all may be written by then."""
        if not self._is_closed:
            _log.warning("log_refused", job=self.attempt.job.id, attempt=self.attempt.job.fence)
        self.end()

    def end(self) -> None:
        """Drop what is left, and all that comes."""
        with self._lock:
            self._is_closed = self._is_over = True
            self._buffer = LogBuffer(0)

    def _now_us(self) -> int:
        """The time by the database's clock, derived from the claim: slightly behind it, and never ahead."""
        return self.attempt.job.started_at + micros(self._clock.monotonic() - self.attempt.given_at)


class Logs:
    """Writes the logs of all attempts of a worker, many in one transaction, one transaction at a time."""

    def __init__(self, store: Store, settings: Settings, clock: Clock, *, wake: Callable[[], None]) -> None:
        self._store, self._clock, self._wake = store, clock, wake
        self._limit = settings.max_log_bytes
        self._write_seconds, self._patience = settings.heartbeat, settings.lease / 3
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = threading.Lock()
        self._writing = asyncio.Lock()
        self._waiting: dict[AttemptLog, None] = {}
        self._ending: dict[AttemptLog, float] = {}

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the event loop that writes."""
        self._loop = loop

    def of(self, attempt: Printing) -> AttemptLog | None:
        """The log of an attempt, made when it is first printed to. From any thread."""
        if not self._limit:
            return None
        log = AttemptLog(attempt, self, self._clock, self._limit)
        with self._opening:  # Nothing is called within: it could run a finalizer that prints.
            if attempt.printed is None:
                attempt.printed = log
            return attempt.printed

    def call(self, log: AttemptLog) -> None:
        """Schedule a write. From any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # It is closed: a thread has outlived its worker.
                self._loop.call_soon_threadsafe(self._called, log)

    def _called(self, log: AttemptLog) -> None:
        log.due_at = max(log.due_at, _now() + _FIRST_SECONDS)
        self._waiting[log] = None
        self._wake()

    async def run_once(self) -> float:
        """Write what is due."""
        async with self._writing:
            now = _now()
            due = [log for log in self._waiting if log.due_at <= now]
            for log in due:
                # Not through the user transaction: that would show at its end only, which writes it anyway.
                if is_blocking(log.attempt.user_transaction):
                    log.due_at = now + _BETWEEN_SECONDS
            await self._write([log for log in due if log.due_at <= now])
        return max(0.001, min((log.due_at - _now() for log in self._waiting), default=_ASLEEP_SECONDS))

    async def write_now(self, logs: Iterable[AttemptLog]) -> None:
        """Write these, due or not."""
        async with self._writing:
            await self._write([log for log in logs if not is_blocking(log.attempt.user_transaction)])

    async def write_rest(self, log: AttemptLog, transaction: UserTransaction | None) -> None:
        """Write all that is left, before the attempt's end is written: after that it would be refused.

        Raises DatabaseUnavailable or TimeoutError where it is worth another try. That is so for a third of a lease:
        then the rest of the log is given up, since the end matters more.
        """
        log.finish()
        if transaction is not None and is_blocking(transaction):
            return await self._write_within(log, transaction)
        give_up_at = self._ending.setdefault(log, _now() + self._patience)
        try:
            async with asyncio.timeout_at(give_up_at), self._writing:
                # The first one writes for all that wait here.
                while not log.is_clean:
                    await self._write(list(self._ending))
        except (DatabaseUnavailable, TimeoutError) as error:
            if _now() < give_up_at:
                raise
            _give_up(log, error)
        self._ending.pop(log, None)
        return None

    def forget(self, log: AttemptLog) -> None:
        """Its attempt is over."""
        log.end()
        self._waiting.pop(log, None)
        self._ending.pop(log, None)

    async def _write_within(self, log: AttemptLog, transaction: UserTransaction) -> None:
        """Through the transaction that holds the only write lock; it may be undone, so the last part stays offered."""
        # One that has ended or lasted too long is found out by the attempt's end, which comes next.
        with contextlib.suppress(DatabaseUnavailable, TransactionTooLong):
            while (write := log.offer()) is not None:
                await self._store.write_logs([write], transaction)
                if not log.has_more:
                    return
                log.taken(_now())

    async def _write(self, logs: Sequence[AttemptLog]) -> None:
        batch: list[tuple[AttemptLog, LogWrite]] = []
        size = 0
        for log in logs:
            self._waiting.pop(log, None)
            write = log.offer()
            if write is None:
                continue
            batch.append((log, write))
            size += sum(len(chunk.body) for chunk in write.offer.chunks)
            if size >= _BATCH_BYTES:
                await self._write_batch(batch)
                batch, size = [], 0
        if batch:
            await self._write_batch(batch)

    async def _write_batch(self, batch: Sequence[tuple[AttemptLog, LogWrite]]) -> None:
        try:
            async with asyncio.timeout(self._write_seconds):
                held = await self._store.write_logs([write for _, write in batch])
        except (DatabaseUnavailable, TimeoutError, asyncio.CancelledError):
            self._waiting |= dict.fromkeys(log for log, _ in batch)
            raise
        except Exception as error:
            # One that the database rejects must not block the others: each is written alone.
            if len(batch) == 1:
                return _give_up(batch[0][0], error)
            for item in batch:
                await self._write_batch([item])
            return None
        now = _now()
        for log, write in batch:
            if write.lease in held:
                log.taken(now)
            else:
                log.refuse()
        return None


def _give_up(log: AttemptLog, error: Exception) -> None:
    _log.warning("log_lost", job=log.attempt.job.id, attempt=log.attempt.job.fence, error=str(error))
    log.end()


def _now() -> float:
    """The event loop's time: the write rate does not depend on the engine's clock."""
    return asyncio.get_running_loop().time()
