"""The client of Redis: a cancellation always arrives, and a server that does not read is given up."""

from __future__ import annotations

import asyncio
import socket

import pytest
from redis.exceptions import RedisError

from hanbeon.stream_worker import redis_client as clients
from tests.databases.valkey import ValkeyServer

_STEPS = 30


async def test_a_cancelled_command_is_cancelled_at_every_step(valkey: ValkeyServer) -> None:
    redis = clients.redis_client(valkey.url)
    for steps in range(1, _STEPS):
        await redis.ping()
        command = asyncio.create_task(redis.ping())
        for _ in range(steps):
            await asyncio.sleep(0)
        under_way = command.cancel()
        await asyncio.wait([command])
        assert command.cancelled() is under_way, f"after {steps} steps of the event loop"
    await redis.aclose()


async def test_a_server_that_does_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        redis = clients.redis_client(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        with pytest.raises(RedisError):
            await redis.set("key", "x" * 50_000_000)
        await redis.aclose()
