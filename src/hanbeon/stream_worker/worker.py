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
from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.logs import get_logger
from hanbeon.stream_worker.dead_letter import bury
from hanbeon.stream_worker.redis_client import redis_client
from hanbeon.stream_worker.reporter import Result, Work, WorkCancelled, WorkFailed
from hanbeon.stream_worker.request import Request

_log = get_logger("hanbeon.stream_worker")
GROUP = "workers"
_BLOCK_MS = 1_000
_BEAT_SECONDS = 1.0
_BEGIN_SECONDS = 0.2
_RECONNECT_SECONDS = 1.0
_ABANDON_SECONDS = 5.0
_HAND_ON_MS = 3_600_000
_TEXT_LIMIT = 4_000


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

        self._down = (RedisError, OSError)
        self.name, self._works = name, works
        self._requests = f"{name}.requests"
        self._concurrency, self._take_over_ms, self._heartbeat = concurrency, round(take_over * 1000), heartbeat
        self.consumer = consumer or f"{socket.gethostname()}:{os.getpid()}/{secrets.token_hex(4)}"
        self._running: dict[tuple[str, int], _Attempt] = {}
        self._look_at, self._place = 0.0, "0-0"
        self._stopping, self._hurrying = asyncio.Event(), asyncio.Event()
        self._freed = asyncio.Event()

    def stop(self) -> None:
        """Take no more requests; `run` returns when those under way are done. A second call does not wait for them."""
        if self._stopping.is_set():
            self._hurrying.set()
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
                except self._down as error:
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
            hurry = asyncio.create_task(self._hurrying.wait())
            done = asyncio.create_task(asyncio.wait(tasks))
            await asyncio.wait([hurry, done], timeout=grace, return_when=asyncio.FIRST_COMPLETED)
            hurry.cancel()
            done.cancel()

    async def _leave(self) -> None:
        """Give up what is under way, and have other workers take it over at once."""
        left = list(self._running.values())
        for attempt in left:
            attempt.abandon()
        if tasks := [attempt.task for attempt in left if attempt.task is not None]:
            await asyncio.wait(tasks, timeout=_ABANDON_SECONDS)
        entries = [entry for attempt in left for entry in attempt.entries]
        if entries:
            with contextlib.suppress(*self._down):
                await self._hand_on(*entries)
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
        except self._down as error:
            if "NOGROUP" not in str(error):
                raise
            with contextlib.suppress(*self._down):  # Another was faster.
                await self._redis.xgroup_create(self._requests, GROUP, id="0", mkstream=True)
            return
        for entry_id, fields in entries:
            await self._take(entry_id, fields or {})

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
        return [entry for batch in batches for entry in _flat(batch)]

    async def _take(self, entry_id: str, fields: Mapping[str, str]) -> None:
        try:
            request = Request.from_fields(fields)
        except ValueError as error:
            pipe = self._redis.pipeline(transaction=True)
            if fields:  # Else it was trimmed while it was pending.
                _log.warning("dead_letter", stream=self._requests, entry=entry_id, reason=str(error))
                bury(pipe, self.name, "requests", entry_id, fields, str(error))
            pipe.xack(self._requests, GROUP, entry_id)
            await pipe.execute()
            return
        if request.job_type not in self._works:
            await self._hand_on(entry_id)
        elif (request.job_id, request.fence) in self._running:
            # Redis lost its data and was given the request again: both entries are of one attempt.
            self._running[request.job_id, request.fence].entries.add(entry_id)
        else:
            attempt = self._running[request.job_id, request.fence] = _Attempt(self, request, entry_id)
            attempt.task = asyncio.create_task(attempt.run())

    async def _hand_on(self, *entry_ids: str) -> None:
        """Make entries look long idle, so that another worker takes them over at once. They are not acknowledged."""
        await self._redis.xclaim(self._requests, GROUP, self.consumer, 0, entry_ids, idle=_HAND_ON_MS)

    async def add(self, stream: str, request: Request, fields: Mapping[str, Any]) -> None:
        """Write a reply, and go on trying while Redis is away."""
        message = {"jobId": request.job_id, "fence": request.fence, **fields}
        while True:
            try:
                await self._redis.xadd(f"{self.name}.{stream}", {k: str(v) for k, v in message.items()})
                return
            except self._down:
                await asyncio.sleep(_RECONNECT_SECONDS)

    async def is_cancelled(self, request: Request) -> bool:
        cancelled = await self._redis.get(f"{self.name}.cancelled:{request.job_id}")
        return cancelled is not None and int(cancelled) >= request.fence

    async def keep(self, entries: set[str]) -> None:
        """Show that the entries are being worked on, so that nobody takes them over."""
        await self._redis.xclaim(self._requests, GROUP, self.consumer, 0, sorted(entries), justid=True)

    async def end(self, attempt: _Attempt, fields: Mapping[str, Any]) -> None:
        """Write the result and acknowledge the request, both or neither, and go on trying while Redis is away."""
        message = {"jobId": attempt.request.job_id, "fence": attempt.request.fence, **fields}
        while True:
            pipe = self._redis.pipeline(transaction=True)
            pipe.xadd(f"{self.name}.results", {name: str(value) for name, value in message.items()})
            pipe.xack(self._requests, GROUP, *attempt.entries)
            try:
                await pipe.execute()
                break
            except self._down:
                await asyncio.sleep(_RECONNECT_SECONDS)
        self._running.pop((attempt.request.job_id, attempt.request.fence), None)
        self._freed.set()


class _Attempt:
    """One request under way: the reporter of its function."""

    def __init__(self, worker: StreamWorker, request: Request, entry_id: str) -> None:
        self._worker, self.request, self.entries = worker, request, {entry_id}
        self.task: asyncio.Task[None] | None = None
        self._cancelled = self._reported = False
        self._last: dict[str, Any] = {"progress": 0, "phase": "", "message": ""}

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    async def progress(self, percent: int, phase: str = "", message: str = "") -> None:
        await self._look()
        if percent >= self._last["progress"]:
            self._reported = True
            self._last = {"progress": percent, "phase": phase, "message": message[:_TEXT_LIMIT]}
            await self._worker.add("progress", self.request, self._last)

    async def _look(self) -> None:
        with contextlib.suppress(*self._worker._down):
            self._cancelled = self._cancelled or await self._worker.is_cancelled(self.request)
        if self._cancelled:
            raise WorkCancelled

    def abandon(self) -> None:
        if self.task is not None:
            self.task.cancel()

    async def run(self) -> None:
        beating = asyncio.create_task(self._beat())
        try:
            fields = await self._result()
        finally:
            beating.cancel()
        await self._worker.end(self, fields)

    async def _result(self) -> dict[str, Any]:
        try:
            await self._look()
            result = await self._worker._works[self.request.job_type](self.request, self)
            return {"status": "SUCCEEDED", **_encoded(result)}
        except WorkCancelled:
            return {"status": "CANCELLED"}
        except WorkFailed as error:
            permanent = {"permanent": "true"} if error.permanent else {}
            return {"status": "FAILED", "errorCode": error.code, "errorMessage": str(error)[:_TEXT_LIMIT], **permanent}
        except Exception as error:
            return {"status": "FAILED", "errorMessage": f"{type(error).__name__}: {error}"[:_TEXT_LIMIT]}

    async def _beat(self) -> None:
        """Look for a cancel every second, keep the entry, and repeat the last progress now and then.

        Work that is not done in a moment is reported as begun; the result of a shorter one says it all.
        """
        loop = asyncio.get_running_loop()
        await asyncio.sleep(_BEGIN_SECONDS)
        if not self._reported:
            await self._worker.add("progress", self.request, self._last)
        sent_at = loop.time()
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            with contextlib.suppress(*self._worker._down):
                self._cancelled = self._cancelled or await self._worker.is_cancelled(self.request)
                await self._worker.keep(self.entries)
                if loop.time() - sent_at >= self._worker._heartbeat:
                    sent_at = loop.time()
                    await self._worker.add("progress", self.request, self._last)


def _flat(batch: Any) -> list[Any]:
    """RESP3 nests the entries of a stream once more."""
    nested = batch and isinstance(batch[0], list) and batch[0] and isinstance(batch[0][0], list | tuple)
    return [entry for part in batch for entry in part] if nested else list(batch)


def _encoded(result: Result) -> dict[str, str]:
    fields = {name: str(result[name]) for name in ("resultUri", "checksum") if result.get(name) is not None}
    if "result" in result:
        fields["result"] = msgspec.json.encode(result["result"]).decode()
    return fields
