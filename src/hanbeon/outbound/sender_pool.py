"""Processes that send messages, for an event loop: a service that hangs is ended with its process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from typing import Any

from hanbeon.cleanup import cleanup
from hanbeon.domain.retry import FailureType
from hanbeon.errors import MessageFailed, Unavailable
from hanbeon.rule import Rule

PROCESSES_MOST = 16
"""Messages of one App on their way at once; each is one process of some 40 MB."""
_IDLE_MOST = 2
_START_SECONDS = 60.0
# An answer holds the words of a service, which are cut where they are captured.
_LINE_MOST = 1_048_576
_MESSAGES_MOST = 1_000


class SenderPool:
    """Starts processes as they are needed, and keeps a few for the next messages."""

    def __init__(self) -> None:
        self._idle: list[_Sender] = []
        self._busy: set[_Sender] = set()
        self._free = asyncio.Semaphore(PROCESSES_MOST)
        self._closed = False

    async def send(self, request: dict[str, Any], timeout: float) -> None:
        """Send a message; raises MessageFailed. `timeout` counts from when the process begins with it.

        If it is cancelled or takes too long, it returns when the process has ended.
        """
        async with self._free:
            answer = await self._ask(request, timeout)
        if answer:
            raise MessageFailed(answer.pop("message"), **answer)

    async def _ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        while True:
            sender = self._idle.pop() if self._idle else await _Sender.start()
            self._busy.add(sender)
            fit = False
            try:
                async with asyncio.timeout(timeout):
                    taken = await sender.give({**request, "timeout": timeout})
                    if not taken:
                        continue  # It ended while it was idle.
                    answer = await sender.answer()
                fit = not self._closed and sender.sent < _MESSAGES_MOST and len(self._idle) < _IDLE_MOST
            except TimeoutError:
                raise MessageFailed(
                    f"it was not sent within {timeout:g} s: the service did not answer",
                    failure_type=FailureType.TIMEOUT,
                ) from None
            finally:
                self._busy.discard(sender)
                if fit:
                    self._idle.append(sender)
                else:
                    await sender.kill()
            return answer

    @cleanup
    async def close(self) -> None:
        """End every process; messages on their way are lost to their senders."""
        self._closed = True
        gone, self._idle = [*self._idle, *self._busy], []
        await asyncio.gather(*(sender.kill() for sender in gone))


class _Sender:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.sent = 0

    @classmethod
    async def start(cls) -> _Sender:
        # As the modules of this process were found, and not as a file in the current folder would have it.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = (sys.executable, "-P", "-m", "hanbeon.outbound.sender")
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the program, which lets messages end.
                limit=_LINE_MOST,
            )
        except OSError as error:
            raise Unavailable(Rule("no_sender_process", error=error.strerror)) from error
        sender = cls(process)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await sender._line()
        except BaseException as error:
            await sender.kill()
            if isinstance(error, TimeoutError):
                raise MessageFailed(f"the process for messages did not start within {_START_SECONDS:g} s") from None
            raise
        return sender

    async def give(self, request: dict[str, Any]) -> bool:
        """Hand a request over; False if the process has ended, and so has not seen it."""
        assert self._process.stdin is not None
        self.sent += 1
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            await self._process.stdin.drain()
        try:
            await self._line()
        except MessageFailed:
            if self.sent == 1:
                raise
            return False
        return True

    async def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = await self._line()
        return answer

    async def _line(self) -> Any:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise MessageFailed("the process that sent it has ended; it may have been sent")
        return json.loads(line)

    @cleanup
    async def kill(self) -> None:
        """Return when nothing of it is left."""
        stdin = self._process.stdin
        assert stdin is not None
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()
        stdin.close()
        with contextlib.suppress(OSError):
            await stdin.wait_closed()
