"""Files of a SQLite database that others shorten or overwrite, while it is open and before."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.errors import DatabaseCorrupt
from tests.server.client import serving
from tests.server.e2e.server_process import ServerProcess

_OFFICE = {"name": "one"}


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _shorten(size: Callable[[int], int], of: Callable[[Path], Path] = lambda path: path) -> Callable[[Path], None]:
    return lambda path: os.truncate(of(path), size(of(path).stat().st_size))


def _overwrite(of: Callable[[Path], Path]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        with of(path).open("r+b") as file:
            file.write(b"\xa5" * of(path).stat().st_size)

    return harm


HARMS = {
    "half": _shorten(lambda size: size // 2),
    "one page": _shorten(lambda _: 4_096),
    "nothing": _shorten(lambda _: 0),
    "garbage": _overwrite(lambda path: path),
    "half of the log": _shorten(lambda size: size // 2, _log),
    "no log": _shorten(lambda _: 0, _log),
    "garbage in the log": _overwrite(_log),
}
OF_THE_FILE = [name for name in HARMS if "log" not in name]


async def _filled(app: App) -> None:
    """Let the main file have more than a page, and its log something that is not there."""
    async with app.transaction() as tx:
        await tx.execute("CREATE TABLE mine (n)")
        numbers = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 500)"
        await tx.execute(f"{numbers} INSERT INTO mine SELECT randomblob(1000) FROM number")
        await tx.execute("DELETE FROM mine")


@pytest.mark.parametrize("harm", HARMS)
async def test_a_damaged_file_takes_no_writes(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "jobs.db"
    async with App(f"sqlite:///{path}") as app:
        await _filled(app)
    async with App(f"sqlite:///{path}") as app, serving(app) as client:
        assert (await client.post("/api/offices", _OFFICE)).status == 201
        whole = {each: each.read_bytes() for each in (path, _log(path))}
        HARMS[harm](path)
        for answer in (
            await client.post("/api/offices", _OFFICE),
            await client.get("/readyz"),
            await client.post("/api/offices", _OFFICE),
        ):
            assert (answer.status, answer.code) == (503, "database_corrupt")
            assert "restore it from a backup" in answer.json["detail"]
        assert (await client.get("/healthz")).status == 200
        with pytest.raises(DatabaseCorrupt):
            async with app.transaction() as tx:
                await tx.execute("DELETE FROM mine")
        for each, content in whole.items():
            each.write_bytes(content)
        for answer in (await client.post("/api/offices", _OFFICE), await client.get("/readyz")):
            assert (answer.status, answer.code) == (503, "database_corrupt"), "until a restart"
            assert "restart the server" in answer.json["detail"]


@pytest.mark.parametrize("harm", OF_THE_FILE)
async def test_a_damaged_file_is_not_opened(tmp_path: Path, harm: str) -> None:
    """With the log that a crash has left."""
    path, crashed = tmp_path / "jobs.db", tmp_path / "crashed.db"
    async with App(f"sqlite:///{path}") as app:
        await _filled(app)
    async with App(f"sqlite:///{path}") as app:
        async with app.transaction() as tx:
            await tx.execute("INSERT INTO mine VALUES (1)")
        shutil.copy(path, crashed)
        shutil.copy(_log(path), _log(crashed))
    whole = crashed.read_bytes()
    HARMS[harm](crashed)
    for _ in range(2):
        with pytest.raises(DatabaseCorrupt, match="restore it from a backup"):
            async with App(f"sqlite:///{crashed}"):
                pass
    crashed.write_bytes(whole)
    async with App(f"sqlite:///{crashed}") as app, app.transaction() as tx:
        assert len(await tx.fetch("SELECT n FROM mine")) == 1, "nothing of it was touched"


@pytest.mark.parametrize("size", [100, 8_272])
async def test_a_blank_log_of_a_power_cut_is_an_empty_one(tmp_path: Path, size: int) -> None:
    """Its size had reached the disk, and nothing else: no commit had, either."""
    path = tmp_path / "jobs.db"
    async with App(f"sqlite:///{path}") as app:
        await _filled(app)
    _log(path).write_bytes(bytes(size))
    async with App(f"sqlite:///{path}") as app:
        async with app.transaction() as tx:
            await tx.execute("INSERT INTO mine VALUES (1)")
        HARMS["garbage in the log"](path)
        with pytest.raises(DatabaseCorrupt):
            async with app.transaction() as tx:
                await tx.execute("DELETE FROM mine")


@pytest.mark.parametrize("harm", OF_THE_FILE)
async def test_closing_a_damaged_file_does_not_hide_it(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "jobs.db"
    async with App(f"sqlite:///{path}") as app:
        await _filled(app)
    async with App(f"sqlite:///{path}") as app:
        async with app.transaction() as tx:
            await tx.execute("INSERT INTO mine VALUES (1)")
        HARMS[harm](path)
    with pytest.raises(DatabaseCorrupt):
        async with App(f"sqlite:///{path}"):
            pass


async def test_a_server_of_its_own_process_refuses_too(tmp_path: Path) -> None:
    path, config = tmp_path / "jobs.db", tmp_path / "hanbeon.toml"
    async with App(f"sqlite:///{path}") as app:
        await _filled(app)
    config.touch()
    with ServerProcess(f"sqlite:///{path}", config, "server") as server:
        assert server.client.ask_now("POST", "/api/offices", _OFFICE).status == 201
        os.truncate(path, path.stat().st_size // 2)
        for method, where in (("POST", "/api/offices"), ("GET", "/readyz")):
            answer = server.client.ask_now(method, where, _OFFICE if method == "POST" else None)
            assert (answer.status, answer.code) == (503, "database_corrupt")


_VACUUM = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("VACUUM")
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
db.execute("CREATE TABLE more AS SELECT randomblob(100000) AS n")
"""


async def test_a_vacuum_of_another_process_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    async with App(f"sqlite:///{path}") as app:
        await _filled(app)
    before = path.stat().st_size
    async with App(f"sqlite:///{path}") as app, serving(app) as client:
        assert (await client.post("/api/offices", _OFFICE)).status == 201
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", _VACUUM, str(path)], check=True)
        assert path.stat().st_size < before
        assert (await client.post("/api/offices", _OFFICE)).status == 201
        assert (await client.get("/readyz")).status == 200
        assert len((await client.get("/api/offices")).json["items"]) == 2
