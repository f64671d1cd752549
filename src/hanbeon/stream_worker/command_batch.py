"""Commands of many attempts over one connection: those that come while others are under way are sent together."""

from __future__ import annotations

import asyncio
from typing import Any

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
