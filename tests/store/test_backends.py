"""Databases that cannot be used, and what each says that helps; and two that want the same at once."""

import asyncio
import os
import socket
import sqlite3
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from hanbeon.clock import SystemClock
from hanbeon.errors import (
    DatabaseUnavailable,
    InvalidInput,
    SchemaMissing,
    SchemaTooNew,
    SchemaTooOld,
    SecondSqliteLibrary,
)
from hanbeon.store import schema
from hanbeon.store.backends import open_store
from hanbeon.store.database.postgres import address_of
from hanbeon.store.database.sqlite_connection import SqliteConnection
from hanbeon.store.database.sqlite_thread import SqliteHost
from hanbeon.store.operations.tallies import counts
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import migrate
from tests.store.world import new_job


async def opened(url: str) -> Store:
    store = open_store(url, SystemClock())
    try:
        await store.open()
    except BaseException:
        await store.close()
        raise
    return store


async def check_opens(url: str) -> None:
    store = await opened(url)
    try:
        await store.enqueue([new_job()])
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://localhost/jobs", "got 'mysql'"),
        ("jobs.db", "must be sqlite:///jobs.db or postgresql://"),
        ("", "must be sqlite:///jobs.db or postgresql://"),
        ("sqlite://", "must name a file, for example sqlite:///jobs.db"),
        ("sqlite:///", "must name a file"),
        ("sqlite://jobs.db", "must name a file"),
        ("sqlite:///:memory:", "would not be durable"),
    ],
)
def test_a_url_that_names_no_store_is_refused(url: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        open_store(url, SystemClock())
    assert refused.value.field == "database_url"


# PostgreSQL


async def test_a_server_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(
        DatabaseUnavailable, match=f"PostgreSQL at 127.0.0.1:{port} does not respond: .*(refused|failed)"
    ):
        await opened(f"postgresql://hanbeon@127.0.0.1:{port}/jobs")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgresql://ada:secret@db.example/jobs", "db.example:5432"),
        ("postgresql://a.example:1,b.example/jobs", "a.example:1, b.example:5432"),
        ("postgresql:///jobs?host=/run/postgresql&port=5433", "/run/postgresql:5433"),
        ("postgresql:///jobs", None),
    ],
)
def test_an_address_is_without_user_and_password(url: str, address: str | None) -> None:
    assert address_of(url) == address


async def test_a_database_that_is_not_there(empty_postgres_url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"database \"nowhere\" does not exist; check HANBEON_DATABASE_URL"):
        await opened(urlunsplit(urlsplit(empty_postgres_url)._replace(path="/nowhere")))


async def test_a_wrong_password(empty_postgres_url: str) -> None:
    parts = urlsplit(empty_postgres_url)
    assert parts.password is not None
    with pytest.raises(DatabaseUnavailable, match="password authentication failed"):
        await opened(empty_postgres_url.replace(parts.password, "wrong"))


async def test_a_database_that_was_never_migrated_names_the_command(empty_postgres_url: str) -> None:
    with pytest.raises(SchemaMissing, match="run `hanbeon migrate` once"):
        await opened(empty_postgres_url)
    assert await migrate(empty_postgres_url) == [migration.version for migration in schema.MIGRATIONS]
    assert await migrate(empty_postgres_url) == []
    await check_opens(empty_postgres_url)


async def test_two_who_migrate_at_once_apply_it_once(empty_postgres_url: str) -> None:
    applied = await asyncio.gather(*[migrate(empty_postgres_url) for _ in range(4)])
    assert sorted(applied) == [[], [], [], [migration.version for migration in schema.MIGRATIONS]]
    await check_opens(empty_postgres_url)


@pytest.fixture
async def migrated(empty_database_url: str) -> str:
    await migrate(empty_database_url)
    return empty_database_url


async def _pretend(url: str, version: int, runs_from: int) -> None:
    """Make it look as if a later release had migrated the database."""
    if url.startswith("sqlite"):
        store = await opened(url)
        transaction = await store.begin()
        await transaction.execute("INSERT INTO hanbeon_schema_version VALUES (?, ?, 0)", version, runs_from)
        await transaction.execute("COMMIT")
        await transaction.abandon()
        await store.close()
        return
    connection = await asyncpg.connect(url)
    await connection.execute("INSERT INTO hanbeon.schema_version VALUES ($1, $2, 0)", version, runs_from)
    await connection.close()


async def test_a_schema_that_is_too_old_names_the_command(migrated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with pytest.raises(SchemaTooOld, match=f"this release needs {schema.VERSION}; run `hanbeon migrate`"):
        await opened(migrated)


async def test_the_next_releases_schema_is_fine_if_it_says_so(migrated: str) -> None:
    await _pretend(migrated, schema.VERSION + 1, schema.VERSION)
    await check_opens(migrated)
    assert await migrate(migrated) == []


async def test_incompatible_schema_requires_an_upgrade(migrated: str) -> None:
    await _pretend(migrated, schema.VERSION + 2, schema.VERSION + 1)
    for use in (opened, migrate):
        with pytest.raises(SchemaTooNew, match="upgrade hanbeon"):
            await use(migrated)


async def test_a_closed_store_says_so(migrated: str) -> None:
    store = await opened(migrated)
    await store.close()
    await store.close()
    with pytest.raises(DatabaseUnavailable, match="closed"):
        await store.read(lambda tx: counts(tx, None, store.unfolded))
    with pytest.raises(DatabaseUnavailable, match="closed"):
        await store.enqueue([new_job()])
    with pytest.raises(DatabaseUnavailable, match="closed"):
        await store.begin()
    await store.open()
    await store.enqueue([new_job()])
    await store.close()


# SQLite


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"folder .*/nowhere of the SQLite file does not exist"):
        await opened(f"sqlite:///{tmp_path}/nowhere/jobs.db")
    assert not (tmp_path / "nowhere").exists()


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """Said again, and not something else, when it is tried again."""
    path = tmp_path / "jobs.db"
    path.write_bytes(b"This is not a database. " * 100)
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable, match="not a valid SQLite database"):
            await opened(f"sqlite:///{path}")
    path.unlink()
    await check_opens(f"sqlite:///{path}")


async def test_a_folder_in_the_files_place(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable):
        await opened(f"sqlite:///{tmp_path}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write any file")
async def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    await check_opens(f"sqlite:///{path}")
    path.chmod(0o444)
    with pytest.raises(DatabaseUnavailable, match="cannot be written"):
        await opened(f"sqlite:///{path}")


async def test_names_with_odd_signs_and_relative_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await check_opens("sqlite:///한%20번.db")
    assert (tmp_path / "한 번.db").exists()


async def test_two_open_a_new_file_at_once(empty_sqlite_url: str) -> None:
    stores = await asyncio.gather(*[opened(empty_sqlite_url) for _ in range(4)])
    await asyncio.gather(*[store.enqueue([new_job()]) for store in stores])
    assert sum((await stores[0].read(lambda tx: counts(tx, None, stores[0].unfolded))).values()) == 4
    for store in stores:
        await store.close()


async def test_many_open_a_new_file_in_the_same_instant(tmp_path: Path) -> None:
    """Of eight at once one in ten rounds refused some of them, when nobody asked SQLite again."""
    for number in range(100):
        path = tmp_path / f"{number}.db"
        path.touch()
        connections = [SqliteConnection(path, SystemClock(), "writer", SqliteHost()) for _ in range(8)]
        await asyncio.gather(*(each.open() for each in connections))
        await asyncio.gather(*(each.close() for each in connections))


async def test_sqlite3_that_has_the_file_open_already_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    other = sqlite3.connect(path)
    try:
        with pytest.raises(SecondSqliteLibrary, match="another SQLite library"):
            await opened(f"sqlite:///{path}")
    finally:
        other.close()
    await check_opens(f"sqlite:///{path}")


async def test_sqlite3_cannot_open_the_file_while_the_store_is_open(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    link = tmp_path / "link.db"
    link.symlink_to(path)
    first, second = await opened(f"sqlite:///{path}"), await opened(f"sqlite:///{path}")
    await first.close()
    for name in (path, str(path), os.fsencode(path), link, f"file:{path}", f"file://{path}?mode=ro"):
        with pytest.raises(SecondSqliteLibrary):
            sqlite3.connect(name, uri=str(name).startswith("file:"))
    await second.enqueue([new_job()])
    await second.close()
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT count(*) FROM hanbeon_job").fetchone() == (1,)
    other.close()


async def test_other_files_are_nobodys_business(tmp_path: Path) -> None:
    store = await opened(f"sqlite:///{tmp_path}/jobs.db")
    for name in (str(tmp_path / "other.db"), ":memory:", ""):
        with sqlite3.connect(name) as other:
            assert other.execute("SELECT 1").fetchone() == (1,)
        other.close()
    await store.close()
