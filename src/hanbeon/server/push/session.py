"""One push connection: sends events until the client leaves, the server stops or access is revoked."""

from __future__ import annotations

import asyncio
import contextlib
import enum
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from starlette.requests import ClientDisconnect

from hanbeon.errors import DatabaseUnavailable, HanbeonError
from hanbeon.events.follower import EventGap, Message, MessageSource, StreamOpened
from hanbeon.logs import get_logger
from hanbeon.server.problems import Refused, close_code

_log = get_logger("hanbeon.server")
LOOK_SECONDS = 1.0
ADMIT_AGAIN_SECONDS = 3.0
BEAT_SECONDS = 15.0
SEND_SECONDS = 20.0
"""A client that reads nothing for this long is considered stuck."""
_END_SECONDS = 1.0
_GOING_AWAY = 1001


class SessionEnd(NamedTuple):
    """Why a connection ends: the WebSocket close code and the reason."""

    code: int
    reason: str


class ClientLeft(enum.Enum):
    """Ends of a connection without a close message from the server."""

    GONE = "the client left"
    STUCK = "the client did not read"


class Wire(Protocol):
    """A connection, as a session sees it."""

    async def send(self, message: Message) -> None: ...

    async def beat(self) -> None:
        """Send a keep-alive, where the protocol has none."""
        ...

    async def left(self) -> None:
        """Return when the client has left."""
        ...

    async def end(self, ending: SessionEnd) -> None: ...

    def abort(self) -> None:
        """Drop the connection with all unsent data: closing would wait for that."""
        ...


Admitted = Callable[[], Awaitable[None]]
"""Raises `Refused` if the client may no longer listen."""


class PushSession:
    """Sends a follower's messages over a wire. No client can hold up another, or keep the session from ending."""

    def __init__(self, wire: Wire, follower: MessageSource, admitted: Admitted, stopping: asyncio.Event) -> None:
        self._wire, self._follower = wire, follower
        self._admitted, self._stopping = admitted, stopping
        self._sending_since: float | None = None
        self._sent_at = 0.0

    async def run(self, gap: Callable[[], None]) -> None:
        """Run until the connection ends; `gap` is called when the client is notified that it missed events."""
        loop = asyncio.get_running_loop()
        self._sent_at = loop.time()
        tasks = [loop.create_task(each) for each in (self._send(gap), self._watch(), self._wait())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        ending = next(task.result() for task in reversed(tasks) if task in done)
        await self._end(ending)

    async def _send(self, gap: Callable[[], None]) -> SessionEnd | ClientLeft:
        now = asyncio.get_running_loop().time
        message: Message = StreamOpened(self._follower.position)
        try:
            while True:
                if isinstance(message, EventGap):
                    gap()
                self._sending_since = now()
                await self._wire.send(message)
                self._sent_at, self._sending_since = self._sending_since, None
                message = await self._follower.next()
        except ClientDisconnect:
            return ClientLeft.GONE
        except HanbeonError as error:
            return SessionEnd(close_code(error), error.code)
        except Exception:
            _log.exception("connection_broke")
            return SessionEnd(close_code(None), "defect")

    async def _wait(self) -> ClientLeft:
        await self._wire.left()
        return ClientLeft.GONE

    async def _watch(self) -> SessionEnd | ClientLeft:
        try:
            return await self._check()
        except ClientDisconnect:
            return ClientLeft.GONE

    async def _check(self) -> SessionEnd | ClientLeft:
        now = asyncio.get_running_loop().time
        admitted_at = now()
        while not await _within(LOOK_SECONDS, self._stopping):
            if self._sending_since is not None:
                if now() - self._sending_since > SEND_SECONDS:
                    return ClientLeft.STUCK
            elif now() - self._sent_at > BEAT_SECONDS:
                self._sent_at = now()
                await self._wire.beat()
            if now() - admitted_at > ADMIT_AGAIN_SECONDS:
                admitted_at = now()
                try:
                    with contextlib.suppress(DatabaseUnavailable):  # Keep the last decision while the database is away.
                        await self._admitted()
                except Refused as error:
                    return SessionEnd(close_code(error), error.code)
        return SessionEnd(_GOING_AWAY, "stopping")

    async def _end(self, ending: SessionEnd | ClientLeft) -> None:
        if isinstance(ending, SessionEnd):
            try:
                async with asyncio.timeout(_END_SECONDS):
                    await self._wire.end(ending)
            except ClientDisconnect:
                pass
            except TimeoutError:
                ending = ClientLeft.STUCK
        if ending is ClientLeft.STUCK:
            _log.warning("connection_dropped", why=ending.value)
            self._wire.abort()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await self._wire.left()


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Return true if the event is set within this time."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
