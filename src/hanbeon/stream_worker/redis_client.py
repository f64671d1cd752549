"""Clients of the Redis at `redis_url`, and commands of many attempts sent together over one connection."""

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


Command = tuple[Any, ...]


class CommandBatch:
    """Sends commands in transactions. The commands of one call are in one of them: all are done, or none."""

    def __init__(self, redis: Any, failures: tuple[type[BaseException], ...]) -> None:
        self._redis, self._failures = redis, failures
        self._waiting: list[tuple[tuple[Command, ...], asyncio.Future[list[Any]]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def run(self, *commands: Command) -> list[Any]:
        """Return the answers. Raises what Redis answers with, or that it cannot be reached: then it may be done."""
        answers: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append((commands, answers))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())
        return await answers

    async def _send(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                found = await self._execute([command for commands, _ in batch for command in commands])
            except BaseException as error:
                for _, answers in batch:
                    if not answers.done():
                        answers.set_exception(error) if isinstance(error, self._failures) else answers.cancel()
                if not isinstance(error, self._failures):
                    raise
                continue
            place = 0
            for commands, answers in batch:
                own, place = found[place : place + len(commands)], place + len(commands)
                if not answers.done():  # Else nobody waits any more.
                    _settle(answers, own)

    async def _execute(self, commands: list[Command]) -> list[Any]:
        async with self._redis.pipeline(transaction=True) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            found: list[Any] = await pipe.execute(raise_on_error=False)
            return found

    async def close(self) -> None:
        """Wait for what is under way."""
        if self._sending is not None:
            await asyncio.wait([self._sending])


def _settle(answers: asyncio.Future[list[Any]], own: list[Any]) -> None:
    refused = next((each for each in own if isinstance(each, Exception)), None)
    if refused is None:
        answers.set_result(own)
    else:
        answers.set_exception(refused)
