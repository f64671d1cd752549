"""Clients of the Redis at `redis_url`, for servers and workers."""

from __future__ import annotations

import asyncio
from typing import Any

from hanbeon.errors import InvalidInput
from hanbeon.extras import extra
from hanbeon.rule import Rule
from hanbeon.settings import masked

_TIMEOUT_SECONDS = 10.0


def redis_client(url: str) -> Any:
    """Return a client with a pool of connections, none of which is open yet. Its errors name the remedy."""
    with extra("redis", "redis_url"):
        from redis.asyncio import Redis
    try:
        # A message may be anything: what is not UTF-8 is shown, and fails to be read as a number or as JSON.
        client = Redis.from_url(
            url,
            decode_responses=True,
            encoding_errors="backslashreplace",
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
        )
    except ValueError as error:
        raise InvalidInput(
            Rule("must_be", what=Rule("redis_address"), got=repr(masked(url))), field="redis_url"
        ) from error
    pool = client.connection_pool
    pool.connection_class = type("CancellableConnection", (_CancellableSends, pool.connection_class), {})
    return client


class _CancellableSends:
    """Sends of a connection of redis-py without `asyncio.wait_for`.

    Before Python 3.12 that swallows a cancellation which comes in the moment when the data has been sent: the task
    continues, and the caller that cancelled it waits for its end for ever.
    """

    async def send_packed_command(self: Any, *args: Any, **options: Any) -> None:
        from redis.exceptions import TimeoutError as RedisTimeoutError

        limit, self.socket_timeout = self.socket_timeout, None
        try:
            async with asyncio.timeout(limit):
                await super().send_packed_command(*args, **options)  # type: ignore[misc]  # Of what it is mixed into.
        except TimeoutError as error:
            raise RedisTimeoutError("Timeout writing to socket") from error
        finally:
            self.socket_timeout = limit


def flat_entries(batch: Any) -> list[Any]:
    """Return the entries of a stream, which RESP3 nests once more."""
    nested = batch and isinstance(batch[0], list) and batch[0] and isinstance(batch[0][0], list | tuple)
    return [entry for part in batch for entry in part] if nested else list(batch)
