"""Hints that wake idle instances immediately. A lost hint costs only the delay of a poll."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from hanbeon.errors import DatabaseUnavailable
from hanbeon.logs import get_logger
from hanbeon.store.database.drivers import asyncpg, asyncpg_classes
from hanbeon.store.database.postgres import CHANNEL, PostgresDatabase, is_pooled
from hanbeon.store.tx import HINTS

_SOCKET_PATH_LIMIT = 100
_QUIET_SECONDS = 0.01
# A statement that comes soon after that carries the hints with it: cheaper than a statement of their own.
_CARRIER_SECONDS = 0.001
_PING_SECONDS = 30.0
_BIND_AGAIN_SECONDS = 30.0
_log = get_logger("hanbeon.wake")


class Notifier(Protocol):
    """Sends hints to every listener of the database, and receives those of others."""

    def send(self, hints: Iterable[str]) -> None:
        """Send the hints soon. Never waits, never fails."""
        ...

    async def listen(self, received: Callable[[set[str]], None]) -> None:
        """Call `received` for every hint until cancelled; reconnects by itself."""
        ...

    async def close(self) -> None: ...


class PostgresNotifier:
    """NOTIFY after the commit, coalesced: inside a transaction it holds a server-wide lock during the fsync."""

    def __init__(self, database: PostgresDatabase, listen_url: str | None = None) -> None:
        self._database = database
        self._listen_url = listen_url
        self._hints: set[str] = set()
        self._received_here: Callable[[set[str]], None] | None = None
        self._sender: asyncio.Task[None] | None = None
        self._quiet_until = 0.0

    def send(self, hints: Iterable[str]) -> None:
        self._hints.update(hints)
        if self._hints and self._received_here is not None:
            self._received_here(set(self._hints))
        if self._hints and (self._sender is None or self._sender.done()):
            self._sender = asyncio.get_running_loop().create_task(self._send())

    def piggyback(self, hints: Iterable[str]) -> str | None:
        """Return the payload that a statement may notify itself, which saves a round trip; None if one was just sent.

        In that case, and with the payload if the statement does not notify after all, call `send`.
        """
        now = asyncio.get_running_loop().time()
        if self._received_here is not None or now < self._quiet_until:
            return None
        self._quiet_until = now + _QUIET_SECONDS
        payload = " ".join(sorted(self._hints.union(hints)))
        self._hints.clear()
        return payload

    async def _send(self) -> None:
        clock = asyncio.get_running_loop().time
        await asyncio.sleep(0)  # The purpose of the commit comes first: the bodies of claimed jobs, or the next claim.
        while self._hints:
            if self._quiet_until > (now := clock()):
                await asyncio.sleep(self._quiet_until - now + _CARRIER_SECONDS)
                continue
            self._quiet_until = now + _QUIET_SECONDS
            hints, self._hints = self._hints, set()
            with contextlib.suppress(DatabaseUnavailable, asyncpg.PostgresError, TimeoutError):
                await self._database.notify(hints)

    async def listen(self, received: Callable[[set[str]], None]) -> None:
        if self._database.pooled and self._listen_url is None:
            _log.info(
                "polling",
                why="a pooler in front of PostgreSQL does not pass LISTEN through: changes of other processes are "
                "found by polling; set HANBEON_LISTEN_URL to the server's own address to be woken immediately",
            )
            await self._listen_here(received)
        pause = 0.1
        while True:
            connection: Any = None
            try:
                connection = await asyncpg.connect(
                    self._listen_url or self._database.url, timeout=10, statement_cache_size=0
                )
                if self._listen_url is not None and await is_pooled(connection):
                    _log.warning(
                        "polling", why="HANBEON_LISTEN_URL points to a pooler; set it to the server's own address"
                    )
                    connection.terminate()
                    await self._listen_here(received)
                gone = asyncio.Event()
                connection.add_termination_listener(lambda _, gone=gone: gone.set())
                await connection.add_listener(CHANNEL, lambda *args: received(set(str(args[3]).split())))
                received(set(HINTS))  # Hints sent while no connection listened.
                pause = 0.1
                while not gone.is_set():
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(_PING_SECONDS):
                            await gone.wait()
                    # A connection that died silently is detected by a query.
                    await connection.execute("SELECT 1", timeout=_PING_SECONDS / 3)
            except asyncpg_classes.BROKEN as error:
                _log.warning("listen_failed", error=str(error), retry_in=pause)
            finally:
                if connection is not None and not connection.is_closed():
                    connection.terminate()
            await asyncio.sleep(pause)
            pause = min(5.0, pause * 2)

    async def _listen_here(self, received: Callable[[set[str]], None]) -> None:
        """Receive at least the hints of this process, until cancelled."""
        self._received_here = received
        try:
            received(set(HINTS))
            await asyncio.get_running_loop().create_future()
        finally:
            self._received_here = None

    async def close(self) -> None:
        if self._sender is not None:
            with contextlib.suppress(asyncio.CancelledError, TimeoutError):
                await asyncio.wait_for(self._sender, 1)


class SqliteNotifier:
    """A datagram to each worker's Unix socket beside the file."""

    def __init__(self, path: Path) -> None:
        self._folder = _socket_folder(Path(os.path.realpath(path)))
        self._received_here: Callable[[set[str]], None] | None = None

    def send(self, hints: Iterable[str]) -> None:
        hints = set(hints)
        if not hints:
            return
        if self._received_here is not None:
            self._received_here(hints)
        # The commit that it tells of has been made: neither a missing folder nor too many open files may fail it.
        with contextlib.suppress(OSError):
            _check_ours(self._folder)
            self._send(" ".join(sorted(hints)).encode(), os.listdir(self._folder))

    def _send(self, payload: bytes, names: Iterable[str]) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            for name in names:
                target = self._folder / name
                try:
                    sender.sendto(payload, str(target))
                except ConnectionRefusedError:
                    # Its owner exited without cleaning up.
                    target.unlink(missing_ok=True)
                except OSError:
                    continue  # Its buffer is full: it already has enough hints to wake up.

    async def listen(self, received: Callable[[set[str]], None]) -> None:
        warned = False
        while True:
            try:
                await self._listen(received)
            except OSError as error:
                if not warned:
                    _log.warning("polling", why=f"changes of other processes are found by polling: {error}")
                warned = True
            await self._listen_here(received)

    async def _listen(self, received: Callable[[set[str]], None]) -> None:
        path = self._folder / f"{os.getpid()}-{os.urandom(4).hex()}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
            receiver.setblocking(False)
            _bind(receiver, path)
            await self._receive(receiver, path, received)

    async def _receive(self, receiver: socket.socket, path: Path, received: Callable[[set[str]], None]) -> None:
        """Pass on what arrives at the socket, until cancelled."""
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        loop.add_reader(receiver, arrived.set)
        try:
            received(set(HINTS))
            while True:
                await arrived.wait()
                arrived.clear()
                hints: set[str] = set()
                with contextlib.suppress(BlockingIOError):
                    while True:
                        hints.update(receiver.recv(256).decode(errors="replace").split())
                received(hints)
        finally:
            loop.remove_reader(receiver)
            self._leave(path)

    def _leave(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._folder.rmdir()  # By the last listener; not empty while others listen.

    async def _listen_here(self, received: Callable[[set[str]], None]) -> None:
        """Receive at least the hints of this process, for a while."""
        self._received_here = received
        try:
            received(set(HINTS))
            await asyncio.sleep(_BIND_AGAIN_SECONDS)
        finally:
            self._received_here = None

    async def close(self) -> None:
        return


def _bind(receiver: socket.socket, path: Path) -> None:
    for _ in range(10):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # The last listener has just removed the folder.
            _check_ours(path.parent)
            return receiver.bind(str(path))
    raise OSError(f"cannot create a socket at {path}")


def _check_ours(folder: Path) -> None:
    """Raise unless only this user can put anything there.

    The name can be guessed, and in the temporary folder anybody could have made it first: to hear our hints, to send
    false ones, or to have us delete sockets elsewhere through a link.
    """
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise PermissionError(f"{folder} must be a folder that belongs to this user alone (mode 0700)")


def _socket_folder(path: Path) -> Path:
    """Return a folder beside the file; if its path is too long for a socket, one in the temporary folder."""
    beside = path.with_name(path.name + "-wake")
    if len(os.fsencode(beside)) + 24 <= _SOCKET_PATH_LIMIT:
        return beside
    digest = hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()
    return Path(tempfile.gettempdir()) / f"hanbeon-{os.geteuid()}-{digest}"
