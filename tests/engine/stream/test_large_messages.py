"""Messages of megabytes: few are held at once, and letters keep their heads."""

from __future__ import annotations

import json

import msgspec
import pytest

from hanbeon import App
from hanbeon.domain.bounds import PAGE_BYTES
from hanbeon.engine.stream.wire import Wire
from hanbeon.errors import NotFound
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import PROGRESS, RESULTS, connected
from tests.storm.moments import until

LARGE = "x" * 2_000_000


async def test_large_messages_are_read_few_at_a_time(valkey: ValkeyServer) -> None:
    wire = Wire(valkey.url, "test")
    sizes: list[int] = []
    try:
        await wire.prepare(["thumbs"])
        async with connected(valkey.url) as redis:
            for _ in range(30):
                await redis.xadd(PROGRESS, {"jobId": "1", "message": LARGE})
            while sum(sizes) < 30:
                sizes.append(len(entries := await wire.read(["thumbs"], pending=False)))
                await wire.settle(entries)
            assert max(sizes) <= 8, sizes
            assert set(sizes[1:-1]) <= {1, 2}, sizes
            for _ in range(1_000):
                await redis.xadd(PROGRESS, {"jobId": "1", "message": ""})
            while sum(sizes) < 1_030:
                sizes.append(len(entries := await wire.read(["thumbs"], pending=False)))
                await wire.settle(entries)
            assert max(sizes) > 100, sizes
    finally:
        await wire.close()


async def test_letter_keeps_the_heads_of_a_message(streaming_here: App, valkey: ValkeyServer) -> None:
    async def letter() -> str | None:
        found = (await streaming_here.engine.deadletters()).items
        return found[0].id if found else None

    async with streaming_here.worker(), connected(valkey.url) as redis:
        job = await streaming_here.enqueue("thumb", {})
        await redis.xadd(RESULTS, {"jobId": job.id, "status": "DONE", "errorMessage": LARGE})
        letter_id = await until("the letter", letter)
        ((_, kept),) = await redis.xrange("thumbs.deadletter")
        assert len(kept["payload"]) < 10_000
        assert json.loads(kept["truncated"]) == {"errorMessage": len(LARGE)}
        with pytest.raises(NotFound, match="only the beginning"):
            await streaming_here.engine.republish_deadletter(letter_id)


async def test_page_of_letters_ends_at_its_bytes(streaming_here: App, valkey: ValkeyServer) -> None:
    """Also of letters that others wrote whole."""
    async with connected(valkey.url) as redis, streaming_here.worker():
        await streaming_here.enqueue("thumb", {})
        for n in range(12):
            payload = json.dumps({"n": str(n), "text": "x" * 1_000_000})
            await redis.xadd("thumbs.deadletter", {"stream": RESULTS, "id": "1-1", "reason": "", "payload": payload})

        async def seen() -> bool | None:
            return bool((await streaming_here.engine.deadletters(limit=1)).items) or None

        await until("the stream", seen)
        found, cursor = [], None
        while True:
            page = await streaming_here.engine.deadletters(limit=1_000, **({"cursor": cursor} if cursor else {}))
            assert len(msgspec.json.encode(page)) <= PAGE_BYTES
            found += [each.payload["n"] for each in page.items]
            if (cursor := page.next_cursor) is None:
                break
        assert found == [str(n) for n in reversed(range(12))]
