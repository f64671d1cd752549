"""Tests of the test servers, which the other tests rely on."""

import signal
import subprocess
import sys
from pathlib import Path

import asyncpg
import psutil
import pytest

from tests.databases.installations import Installation
from tests.databases.postgres import PostgresServer


async def fetch(url: str, query: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_hands_out_separate_databases(postgres_server: PostgresServer) -> None:
    with postgres_server.database() as one, postgres_server.database() as two:
        assert one != two
        assert await fetch(one, "SELECT 1") == 1
        await fetch(one, "CREATE TABLE only_here (id int)")
        assert await fetch(two, "SELECT to_regclass('only_here')") is None


async def test_shared_server_is_recent(postgres_url: str) -> None:
    assert int(str(await fetch(postgres_url, "SHOW server_version_num"))) >= 150000


async def test_only_private_server_is_durable(
    private_postgres: PostgresServer, postgres_server: PostgresServer
) -> None:
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        assert await fetch(private_postgres.url("postgres"), f"SHOW {setting}") == "on"
        assert await fetch(postgres_server.url("postgres"), f"SHOW {setting}") == "off"


async def test_dropping_ends_open_connections(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database()
    connection = await asyncpg.connect(url)
    postgres_server.drop_database(url)
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await connection.fetchval("SELECT 1")
    connection.terminate()


@pytest.mark.parametrize("graceful", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_restart_keeps_port_and_data(private_postgres: PostgresServer, graceful: bool) -> None:
    url, before = private_postgres.create_database(), private_postgres.pid
    await fetch(url, "CREATE TABLE kept AS SELECT 42 AS answer")
    private_postgres.restart(graceful=graceful)
    assert private_postgres.pid != before
    assert await fetch(url, "SELECT answer FROM kept") == 42


def test_server_ends_with_a_killed_owner(postgres_installation: Installation) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.databases.postgres import PostgresServer;"
        "server = PostgresServer.start(Path(sys.argv[1]));"
        "print(server.pid, server.folder, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(postgres_installation.bindir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as owner:
        assert owner.stdout is not None
        pid, folder = owner.stdout.readline().split()
        postmaster = psutil.Process(int(pid))
        owner.send_signal(signal.SIGKILL)
    postmaster.wait(30)
    assert not postmaster.is_running()
    assert not Path(folder, "data", "postmaster.pid").exists()


async def test_migrated_and_empty_databases(postgres_url: str, empty_postgres_url: str) -> None:
    assert await fetch(postgres_url, "SELECT to_regclass('hanbeon.jobs')") is not None
    assert await fetch(empty_postgres_url, "SELECT to_regclass('hanbeon.jobs')") is None


def test_migrated_file_has_tables(sqlite_url: str) -> None:
    assert Path(sqlite_url.removeprefix("sqlite:///")).stat().st_size > 0


def test_empty_file_does_not_exist(empty_sqlite_url: str) -> None:
    assert not Path(empty_sqlite_url.removeprefix("sqlite:///")).exists()


def test_each_store_gets_its_url(database_url: str, request: pytest.FixtureRequest) -> None:
    store = request.node.callspec.params["database_url"]
    scheme = "sqlite" if store == "sqlite" else "postgresql"
    assert database_url.startswith(f"{scheme}://")
    assert (request.node.get_closest_marker("postgres") is not None) == (scheme == "postgresql")
