"""Ways in which a database refuses for a moment, for real, and relents afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import secrets
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from urllib.parse import urlsplit

import apsw
import asyncpg
import pytest

from hanbeon import App
from hanbeon.store.database.sqlite import SqliteDatabase
from tests.databases.account import Account

Refusing = Callable[[str], AbstractAsyncContextManager[None]]
_OTHERS = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()"


def _name(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")


@contextlib.asynccontextmanager
async def _administered(url: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A connection to another database of the same server, which nothing below refuses."""
    connection = await asyncpg.connect(urlsplit(url)._replace(path="/postgres").geturl(), timeout=60)
    try:
        yield connection
    finally:
        await connection.close()


@contextlib.asynccontextmanager
async def _altered(url: str, change: str, undo: str) -> AsyncIterator[None]:
    """Change the database and end its sessions, as a fail-over does, so that all new ones are under the change."""
    async with _administered(url) as admin:
        await admin.execute(f"ALTER DATABASE {_name(url)} {change}")
        try:
            await admin.fetch(_OTHERS, _name(url))
            yield
        finally:
            await admin.execute(f"ALTER DATABASE {_name(url)} {undo}")
            # Only sessions from before: the others have begun to work again, and must not be refused once more.
            undone_at = await admin.fetchval("SELECT clock_timestamp()")
            await admin.fetch(f"{_OTHERS} AND backend_start <= $2", _name(url), undone_at)


def read_only(url: str) -> AbstractAsyncContextManager[None]:
    """Every write is refused, as by a standby."""
    return _altered(url, "SET default_transaction_read_only = on", "RESET default_transaction_read_only")


def no_connections(url: str) -> AbstractAsyncContextManager[None]:
    """Every connection is refused: there are too many. Superusers are exempt; see `as_user`."""
    return _altered(url, "CONNECTION LIMIT 0", "CONNECTION LIMIT -1")


@contextlib.asynccontextmanager
async def statements_time_out(url: str) -> AsyncIterator[None]:
    """Every statement that needs a job's row takes too long, since another session has locked the table."""
    async with _altered(url, "SET statement_timeout = '200ms'", "RESET statement_timeout"):
        blocker = await asyncpg.connect(url, timeout=60, server_settings={"statement_timeout": "0"})
        try:
            async with blocker.transaction():
                await blocker.execute("LOCK TABLE hanbeon.job IN ACCESS EXCLUSIVE MODE")
                yield
        finally:
            await blocker.close()


POSTGRES: dict[str, Refusing] = {
    "read_only": read_only,
    "no_connections": no_connections,
    "statements_time_out": statements_time_out,
}


@contextlib.asynccontextmanager
async def as_user(url: str) -> AsyncIterator[str]:
    """The URL for a role that may do everything here and is no superuser."""
    role, parts = f"user_{secrets.token_hex(6)}", urlsplit(url)
    async with _administered(url) as admin:
        await admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'x' IN ROLE {parts.username}")
        try:
            yield parts._replace(netloc=f"{role}:x@{parts.hostname}:{parts.port}").geturl()
        finally:
            await admin.fetch(_OTHERS, _name(url))
            owner = await asyncpg.connect(url, timeout=60)
            await owner.execute(f"DROP OWNED BY {role}")
            await owner.close()
            await admin.execute(f"DROP ROLE {role}")


@contextlib.contextmanager
def no_descriptors() -> Iterator[None]:
    """This process can open no further file and no connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.asynccontextmanager
async def full_file(app: App) -> AsyncIterator[None]:
    """The file of an open App may not grow, on its writing connection: what needs a new page gets SQLITE_FULL."""
    database = app.store.database
    assert isinstance(database, SqliteDatabase)
    writer = database._writer
    assert writer is not None
    pages = await writer.run(lambda: writer.db.pragma("max_page_count"))
    await writer.run(lambda: writer.db.execute("PRAGMA max_page_count = 1").fetchall())
    try:
        yield
    finally:
        await writer.run(lambda: writer.db.execute(f"PRAGMA max_page_count = {pages}").fetchall())


@contextlib.contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """An empty folder on a small file system of its own, which the servers' account owns. Only root can mount one."""
    account = Account.choose()
    folder = account.make_folder("hanbeon-disk-")
    mount = [
        "mount",
        "-t",
        "tmpfs",
        "-o",
        f"size={megabytes}m,uid={account.uid},gid={account.gid}",
        "none",
        str(folder),
    ]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        folder.rmdir()
        pytest.skip("only root can mount a small file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


def full_disk(folder: Path) -> Refusing:
    """Every write that needs room in this file system is refused."""

    @contextlib.asynccontextmanager
    async def refusing(_: str) -> AsyncIterator[None]:
        filler = folder / "filler"
        try:
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while file.write(b"x" * 4_096):
                    pass
            yield
        finally:
            filler.unlink()

    return refusing


async def create_on(disk: Path, url: str) -> str:
    """The URL of a new, empty database beside that of `url`, with all its tables on this disk."""
    async with _administered(url) as admin:
        await admin.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
        await admin.execute("CREATE DATABASE small TEMPLATE template0 TABLESPACE small")
    return urlsplit(url)._replace(path="/small").geturl()


@contextlib.asynccontextmanager
async def locked_file(url: str) -> AsyncIterator[None]:
    """Another connection holds the only write lock of a SQLite file for longer than anyone waits."""
    blocker = apsw.Connection(url.removeprefix("sqlite:///"))
    while True:
        try:
            blocker.execute("BEGIN IMMEDIATE")
            break
        except apsw.BusyError:
            # A busy timeout would block the event loop, on which the transaction under way may go on.
            await asyncio.sleep(0.005)
    try:
        yield
    finally:
        blocker.close()
