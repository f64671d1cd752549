"""A worker of stream tasks: reads requests, runs their functions, reports progress and results. Redis is all it needs.

A request is acknowledged when its result has been written, so that the work of a worker that dies is taken over by
another: the same attempt goes on. Whatever a worker does twice, the server counts once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any

from hanbeon.cleanup import cleanup
from hanbeon.logs import get_logger
from hanbeon.stream_worker.attempt import Attempt
from hanbeon.stream_worker.dead_letter import dead_letter
from hanbeon.stream_worker.redis_client import Command, CommandBatch, flat_entries, redis_client
from hanbeon.stream_worker.request import Request, Work

_log = get_logger("hanbeon.stream_worker")
GROUP = "workers"
_BLOCK_MS = 1_000
_BEAT_SECONDS = 0.8
# Between two looks at what is cancelled: work has to stop within a second, and needs some of that to do so.
_LOOK_SECONDS = 0.4
_BEGIN_SECONDS = 0.2
_RECONNECT_SECONDS = 1.0
_ABANDON_SECONDS = 5.0
_HAND_ON_MS = 3_600_000


class StreamWorker:
    """Does the requests of a stream: `await StreamWorker(url, "thumbs", {"thumb": work}).run()`.

    `works` maps a `jobType` to its function. Requests of other types are handed on to other workers.
    `take_over`: seconds after which the unfinished request of a silent worker is taken over.
    `concurrency`: how many requests at once. `heartbeat`: seconds between repeats of the last progress, which renew the
    server's lease where that is shorter than the task's timeout.
    """

    def __init__(
        self,
        redis_url: str,
        name: str,
        works: Mapping[str, Work],
        *,
        concurrency: int = 1,
        take_over: float = 30.0,
        heartbeat: float = 10.0,
        consumer: str | None = None,
    ) -> None:
        self._redis: Any = redis_client(redis_url)
        from redis.exceptions import RedisError

        self.down: tuple[type[Exception], ...] = (RedisError, OSError)
        self._batch = CommandBatch(self._redis, self.down)
        self.name, self._works = name, works
        self._requests = f"{name}.requests"
        self._concurrency, self._take_over_ms, self._heartbeat = concurrency, round(take_over * 1000), heartbeat
        self.consumer = consumer or f"{socket.gethostname()}:{os.getpid()}/{secrets.token_hex(4)}"
        self._running: dict[tuple[str, int], Attempt] = {}
        self._beating: asyncio.Task[None] | None = None
        self._look_at, self._place = 0.0, "0-0"
        self._stopping, self._stop_now = asyncio.Event(), asyncio.Event()
        self._freed = asyncio.Event()

    def stop(self) -> None:
        """Take no more requests; `run` returns when those under way are done. A second call does not wait for them."""
        if self._stopping.is_set():
            self._stop_now.set()
        self._stopping.set()
        self._freed.set()

    async def run(self, *, grace: float = 30.0) -> None:
        """Work until `stop()`, SIGTERM or SIGINT. What is not done within `grace` is left for another worker."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # Not in the main thread.
                loop.add_signal_handler(each, self.stop)
        _log.info("stream_worker_started", stream=self.name, types=sorted(self._works), consumer=self.consumer)
        try:
            down = False
            while not self._stopping.is_set():
                try:
                    await self._step()
                    if down:
                        _log.info("redis_available")
                    down = False
                except self.down as error:
                    if not down:
                        _log.warning("redis_unavailable", error=f"{type(error).__name__}: {error}")
                    down = True
                    await self._pause()
            await self._finish(grace)
        finally:
            await self._leave()

    async def _pause(self) -> None:
        """Wait for Redis to come back, or for a stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_RECONNECT_SECONDS):
                await self._stopping.wait()

    async def _finish(self, grace: float) -> None:
        """Let the requests under way end, until the grace time is over or a second stop cuts it short."""
        tasks = [each.task for each in self._running.values() if each.task is not None]
        if tasks:
            stop_now = asyncio.create_task(self._stop_now.wait())
            done = asyncio.create_task(asyncio.wait(tasks))
            await asyncio.wait([stop_now, done], timeout=grace, return_when=asyncio.FIRST_COMPLETED)
            stop_now.cancel()
            done.cancel()

    @cleanup
    async def _leave(self) -> None:
        """Give up what is under way, and have other workers take it over at once."""
        left = list(self._running.values())
        for attempt in left:
            attempt.abandon()
        if tasks := [attempt.task for attempt in left if attempt.task is not None]:
            await asyncio.wait(tasks, timeout=_ABANDON_SECONDS)
        entries = [entry for attempt in left for entry in attempt.entries]
        if entries:
            with contextlib.suppress(*self.down):
                await self._hand_on(*entries)
        if self._beating is not None:
            self._beating.cancel()
        await self._batch.close()
        await self._redis.aclose()
        _log.info("stream_worker_stopped", stream=self.name, left=len(left))

    async def _step(self) -> None:
        """Read as much as there is room for: first what silent workers have left, then what is new."""
        room = self._concurrency - len(self._running)
        if room <= 0:
            self._freed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_BEAT_SECONDS):
                    await self._freed.wait()
            return
        try:
            entries = await self._left_by_others(room)
            if len(entries) < room:
                entries += await self._new(room - len(entries), wait=not entries)
        except self.down as error:
            if "NOGROUP" not in str(error):
                raise
            with contextlib.suppress(*self.down):  # Another was faster.
                await self._redis.xgroup_create(self._requests, GROUP, id="0", mkstream=True)
            return
        await self._take(entries)

    async def _left_by_others(self, room: int) -> list[Any]:
        """Take over requests that have been idle for long, looking once a second, and each time a little further.

        Requests that this worker handed on look idle, too, and must not keep it from what is behind them.
        """
        now = asyncio.get_running_loop().time()
        if now < self._look_at:
            return []
        self._look_at = now + _BEAT_SECONDS
        place, entries, *_ = await self._redis.xautoclaim(
            self._requests, GROUP, self.consumer, self._take_over_ms, start_id=self._place, count=room
        )
        self._place = place
        return list(entries)

    async def _new(self, room: int, *, wait: bool) -> list[Any]:
        streams = {self._requests: ">"}
        found = await self._redis.xreadgroup(
            GROUP, self.consumer, streams, count=room, block=_BLOCK_MS if wait else None
        )
        batches = found.values() if isinstance(found, dict) else [batch for _, batch in found or ()]
        return [entry for batch in batches for entry in flat_entries(batch)]

    async def _take(self, entries: list[Any]) -> None:
        """Begin what can be read and done here, after one look at what is cancelled."""
        begun: list[Attempt] = []
        try:
            for entry_id, fields in entries:
                try:
                    request = Request.from_fields(fields or {})
                except ValueError as error:
                    await self._reject(entry_id, fields or {}, str(error))
                    continue
                if request.job_type not in self._works:
                    await self._hand_on(entry_id)
                elif (request.job_id, request.fence) in self._running:
                    # Redis lost its data and was given the request again: both entries are of one attempt.
                    self._running[request.job_id, request.fence].entries.add(entry_id)
                else:
                    attempt = Attempt(self, request, entry_id, asyncio.get_running_loop().time())
                    self._running[attempt.key] = attempt
                    begun.append(attempt)
        finally:
            # Also if Redis has gone away in between: what has a place here is begun.
            if begun:
                await self._begin(begun)

    async def _begin(self, begun: list[Attempt]) -> None:
        with contextlib.suppress(*self.down):
            await self._look(begun)
        for attempt in begun:
            attempt.task = asyncio.create_task(self._do(attempt))
        if self._beating is None or self._beating.done():
            self._beating = asyncio.create_task(self._beat())

    async def _do(self, attempt: Attempt) -> None:
        try:
            await self._end(attempt, await attempt.result(self._works[attempt.request.job_type]))
        finally:
            self._running.pop(attempt.key, None)
            self._freed.set()

    async def _reject(self, entry_id: str, fields: Mapping[str, str], reason: str) -> None:
        """Move a request that cannot be read to the dead letters. One without fields was trimmed while pending."""
        async with self._redis.pipeline(transaction=True) as pipe:
            if fields:
                _log.warning("dead_letter", stream=self._requests, entry=entry_id, reason=reason)
                dead_letter(pipe, self.name, "requests", entry_id, fields, reason)
            pipe.xack(self._requests, GROUP, entry_id)
            await pipe.execute()

    async def _hand_on(self, *entry_ids: str) -> None:
        """Make entries look long idle, so that another worker takes them over at once. They are not acknowledged."""
        await self._redis.xclaim(self._requests, GROUP, self.consumer, 0, entry_ids, idle=_HAND_ON_MS)

    # Replies

    async def add_progress(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Write progress, and go on trying while Redis is away."""
        message = self._add("progress", request, fields)
        await self._surely(lambda: (message,))

    async def is_cancelled(self, request: Request) -> bool:
        (cancelled,) = await self._batch.run(("GET", self._cancel_key(request)))
        return cancelled is not None and int(cancelled) >= request.fence

    async def _look(self, attempts: list[Attempt]) -> None:
        """Mark those that are cancelled."""
        (found,) = await self._batch.run(("MGET", *(self._cancel_key(each.request) for each in attempts)))
        for attempt, cancelled in zip(attempts, found, strict=True):
            attempt.cancelled = attempt.cancelled or (cancelled is not None and int(cancelled) >= attempt.request.fence)

    async def _end(self, attempt: Attempt, fields: Mapping[str, Any]) -> None:
        """Write the result and acknowledge the request, both or neither, and go on trying while Redis is away."""
        result = self._add("results", attempt.request, fields)
        # The entries may become more while Redis is away.
        await self._surely(lambda: (result, ("XACK", self._requests, GROUP, *attempt.entries)))

    async def _surely(self, commands: Callable[[], tuple[Command, ...]]) -> None:
        while True:
            try:
                await self._batch.run(*commands())
                return
            except self.down:
                await asyncio.sleep(_RECONNECT_SECONDS)

    def _add(self, kind: str, request: Request, fields: Mapping[str, Any]) -> Command:
        message = {"jobId": request.job_id, "fence": request.fence, **fields}
        return ("XADD", f"{self.name}.{kind}", "*", *(_text(part) for field in message.items() for part in field))

    def _cancel_key(self, request: Request) -> str:
        return f"{self.name}.cancelled:{request.job_id}"

    async def _beat(self) -> None:
        """While there is work: look for cancels, keep its entries, and repeat the last progress now and then.

        Work that is not done in a moment is reported as begun; the result of a shorter one says it all.
        """
        loop = asyncio.get_running_loop()
        beat_at = look_at = loop.time() + _BEAT_SECONDS
        while self._running:
            await asyncio.sleep(_BEGIN_SECONDS)
            now = loop.time()
            attempts = list(self._running.values())
            with contextlib.suppress(*self.down):
                await self._report(attempts, now)
                if now >= look_at and attempts:
                    look_at = now + _LOOK_SECONDS
                    await self._look(attempts)
                if now >= beat_at and attempts:
                    beat_at = now + _BEAT_SECONDS
                    entries = sorted(entry for each in attempts for entry in each.entries)
                    await self._redis.xclaim(self._requests, GROUP, self.consumer, 0, entries, justid=True)

    async def _report(self, attempts: list[Attempt], now: float) -> None:
        due = [
            each
            for each in attempts
            if (each.reported_at is None and now - each.began_at >= _BEGIN_SECONDS)
            or (each.reported_at is not None and now - each.reported_at >= self._heartbeat)
        ]
        if due:
            await self._batch.run(*(self._add("progress", each.request, each.last) for each in due))
            for each in due:
                each.reported_at = now


def _text(value: Any) -> str:
    """The text of a field; half surrogates, which no message can hold, become question marks."""
    text = str(value)
    return text if text.isascii() else text.encode(errors="replace").decode()
