"""Commands of many over one connection: together, each with its own answer, and refusals for whom they are."""

from __future__ import annotations

import asyncio

import pytest
from redis.exceptions import RedisError, ResponseError

from hanbeon.stream_worker.redis_client import CommandBatch
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import connected


async def test_commands_are_sent_together_and_answered_each(valkey: ValkeyServer) -> None:
    async with connected(valkey.url) as redis:
        batch = CommandBatch(redis, (RedisError, OSError))
        await redis.set("text", "no list")
        before = (await redis.info("stats"))["total_connections_received"]
        calls = [batch.run(("INCR", "n"), ("ECHO", f"{n}")) for n in range(200)]
        found = await asyncio.gather(*calls, batch.run(("LPUSH", "text", "x")), return_exceptions=True)
        assert [each[1] for each in found[:-1]] == [f"{n}" for n in range(200)]  # type: ignore[index]
        assert isinstance(found[-1], ResponseError), "it alone"
        assert await redis.get("n") == "200"
        assert (await redis.info("stats"))["total_connections_received"] - before <= 1
        valkey.kill()
        with pytest.raises((RedisError, OSError)):
            await batch.run(("INCR", "n"))
        valkey.start()
        assert await batch.run(("INCR", "n")) == [1], "it goes on"
        await batch.close()
