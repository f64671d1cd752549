"""Redis as a wire: requests once per attempt, replies at least once, cancels, outages."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, State
from hanbeon.engine.stream.wire import Wire, WireDownError
from hanbeon.errors import InvalidInput
from hanbeon.stream_worker import Reporter, Request, Result
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import PROGRESS, REQUESTS, RESULTS, connected, work, working
from tests.storm.moments import until, until_state


async def entries(redis: Any, stream: str, count: int) -> list[dict[str, str]]:
    async def found() -> list[dict[str, str]] | None:
        fields = [fields for _, fields in await redis.xrange(stream)]
        return fields if len(fields) >= count else None

    return await until(f"{count} entries of {stream}", found)


async def test_request_is_published_once_per_fence(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path, keeping=True)
    server.start()
    try:
        wire = Wire(server.url, "one")
        await wire.prepare(["thumbs"])
        epoch = await wire.epoch()
        request = ("thumbs", "7", 1, {"jobId": "7"})
        assert [await wire.publish([request], "a"), await wire.publish([request], "a")] == [1, 0]
        assert await wire.epoch() == epoch
        server.restart()
        assert await until("Valkey", lambda: _epoch(wire)) != epoch, "it may have lost something"
        assert await wire.publish([request], "a") == 0, "but it has not"
        assert await wire.publish([("thumbs", "7", 2, {"jobId": "7"})], "a") == 1, "another attempt"
        assert await wire.publish([request], "a", again=True) == 1, "an operator says so"
        async with connected(server.url) as redis:
            assert len(await redis.xrange(REQUESTS)) == 3
            await wire.close_requests([("thumbs", "7", 2)], [("thumbs", "7")])
            assert await redis.get("thumbs.cancelled:7") == "2"
            assert await redis.ttl("thumbs.sent:7") > 3600, "the guard outlives the job for a while"
            assert await wire.publish([request], "b") == 1, "a restored database begins anew"
            assert await redis.get("thumbs.cancelled:7") is None
            before = await wire.epoch()
            await redis.delete(REQUESTS)
            await wire.prepare(["thumbs"])
            assert await wire.epoch() != before, "a stream that is gone is lost data"
        await wire.close()
    finally:
        server.kill()


@contextlib.asynccontextmanager
async def _cut_at_scripts(port: int) -> AsyncIterator[str]:
    """The address of a relay to a server that hangs up when a client asks for a script."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stop: bytes | None) -> None:
        while (data := await reader.read(65_536)) and (stop is None or stop not in data):
            writer.write(data)
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, far_writer, b"SCRIPT"), pump(far_reader, writer, None))

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    async with server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"


async def test_lost_connection_goes_back_to_its_pool(valkey: ValkeyServer) -> None:
    async with _cut_at_scripts(valkey.port) as url:
        wire = Wire(url, "one")
        await wire.prepare(["thumbs"])
        for _ in range(2):
            with pytest.raises(WireDownError):
                await wire.publish([("thumbs", "7", 1, {"jobId": "7"})], "a")
        await wire.close()
        with warnings.catch_warnings(record=True) as leaks:
            warnings.simplefilter("always", ResourceWarning)
            gc.collect()
    assert [str(leak.message) for leak in leaks if "client session" in str(leak.message)] == []


async def _epoch(wire: Wire) -> str | None:
    try:
        return await wire.epoch()
    except WireDownError:
        return None


async def test_jobs_wait_for_redis_and_survive_its_loss(streaming: App, valkey: ValkeyServer) -> None:
    valkey.kill()
    async with streaming.worker():
        job = await streaming.enqueue("thumb", {"n": 1})
        await until("its dispatch", lambda: _dispatched(streaming, job.id))
        valkey.start()
        async with connected(valkey.url) as redis:
            (request,) = await entries(redis, REQUESTS, 1)
            assert (request["jobId"], request["jobType"]) == (job.id, "thumb")
        valkey.restart()
        async with working(valkey.url):
            assert (await job.wait(60)).state is State.SUCCEEDED


async def _dispatched(app: App, job_id: str) -> bool | None:
    record = await app.job(job_id).record()
    return True if record.dispatched_at is not None and record.state is State.READY else None


async def test_plain_messages_drive_a_job(streaming_here: App, valkey: ValkeyServer) -> None:
    """Messages as a worker in any language writes them, without a fence."""
    async with streaming_here.worker() as server, connected(valkey.url) as redis:
        job = await streaming_here.enqueue("thumb", {})
        await entries(redis, REQUESTS, 1)
        await redis.xadd(PROGRESS, {"jobId": job.id, "progress": 40, "phase": "DRAW", "message": "half"})
        record = await until_state(streaming_here, job.id, State.RUNNING)
        assert json.loads(record.progress or "") == {"progress": 40, "phase": "DRAW", "message": "half"}
        done = {"jobId": job.id, "status": "SUCCEEDED", "resultUri": "out/1.mp4", "checksum": "ab"}
        await redis.xadd(RESULTS, done)
        record = await job.wait(60)
        assert json.loads(record.result or "") == {"resultUri": "out/1.mp4", "checksum": "ab"}
        assert server.stream is not None
        await redis.xreadgroup("workers", "w", {REQUESTS: ">"})
        await redis.xack(REQUESTS, "workers", *[each for each, _ in await redis.xrange(REQUESTS)])
        await server.stream.maintain.run_once()
        assert [await redis.xlen(stream) for stream in (REQUESTS, PROGRESS, RESULTS)] <= [1, 1, 1], "trimmed"


async def test_replies_of_a_dead_server_are_taken_over(streaming_here: App, valkey: ValkeyServer) -> None:
    async with streaming_here.worker() as server, connected(valkey.url) as redis:
        job = await streaming_here.enqueue("thumb", {})
        await entries(redis, REQUESTS, 1)
        assert server.stream is not None
        server.stream.take_over_ms = 0
        await redis.xadd(RESULTS, {"jobId": job.id, "status": "SUCCEEDED"})
        # As another server did that died then; whoever is faster, the reply is applied once.
        await redis.xreadgroup("hanbeon", "dead", {RESULTS: ">"})
        await server.stream.maintain.run_once()
        assert (await job.wait(60)).state is State.SUCCEEDED


async def test_cancel_reaches_the_worker(streaming_here: App, valkey: ValkeyServer) -> None:
    stopped = asyncio.Event()

    async def endless(request: Request, report: Reporter) -> Result:
        try:
            while True:
                await report.progress(10)
                await asyncio.sleep(0.05)
        finally:
            stopped.set()

    async with streaming_here.worker(), working(valkey.url, {"thumb": endless}), connected(valkey.url) as redis:
        job = await streaming_here.enqueue("thumb", {})
        await until_state(streaming_here, job.id, State.RUNNING)
        await job.cancel()
        async with asyncio.timeout(60):
            await stopped.wait()
        assert (await job.wait(60)).state is State.CANCELLED
        assert await redis.get(f"thumbs.cancelled:{job.id}") == "1"


async def test_cancel_is_final_though_the_worker_is_silent(streaming: App, valkey: ValkeyServer) -> None:
    async with streaming.worker(), connected(valkey.url) as redis:
        job = await streaming.enqueue("thumb", {})
        await entries(redis, REQUESTS, 1)
        await redis.xadd(PROGRESS, {"jobId": job.id, "progress": 40})
        await until_state(streaming, job.id, State.RUNNING)
        valkey.kill()
        await job.cancel()
        assert (await job.wait(60)).state is State.CANCELLED


async def test_request_is_handed_on_to_a_worker_that_can(streaming_here: App, valkey: ValkeyServer) -> None:
    streaming_here.stream("other", "thumbs", timeout="5m")
    async with streaming_here.worker(), working(valkey.url, {"other": work}), connected(valkey.url) as redis:
        job = await streaming_here.enqueue("thumb", {})
        await until("the wrong worker", lambda: _pending(redis))
        other = await streaming_here.enqueue("other", {})
        assert (await other.wait(60)).state is State.SUCCEEDED, "one that it cannot do hides none that it can"
        async with working(valkey.url, take_over=600):
            assert (await job.wait(60)).state is State.SUCCEEDED


async def _pending(redis: Any) -> bool | None:
    try:
        return (await redis.xpending(REQUESTS, "workers"))["pending"] > 0 or None
    except Exception:
        return None


def test_rejects_invalid_redis_url() -> None:
    with pytest.raises(InvalidInput, match="redis_url: must be a URL such as redis://"):
        Wire("http://x", "one")
