"""From an address to a store, and to a schema that is up to date."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from hanbeon.clock import Clock, SystemClock
from hanbeon.errors import InvalidInput
from hanbeon.settings import masked
from hanbeon.store.notify import PostgresNotifier, SqliteNotifier
from hanbeon.store.postgres import PostgresDatabase
from hanbeon.store.sqlite import SqliteDatabase
from hanbeon.store.store import Store


def open_store(url: str, clock: Clock, *, pool_size: int = 10, listen_url: str | None = None) -> Store:
    """The store a URL names: `sqlite:///relative.db`, `sqlite:////absolute.db` or `postgresql://…`. Not open yet."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        # What it says may quote a piece of a password.
        raise InvalidInput(
            f"{masked(url)!r} is not an address; write postgresql://user@host:5432/name, with signs like @ / # in a "
            "password percent-encoded",
            field="database_url",
        ) from None
    if parts.scheme == "sqlite":
        path = unquote(parts.path.removeprefix("/"))
        if not path or parts.netloc:
            raise InvalidInput(f"{masked(url)!r} names no file; write sqlite:///jobs.db", field="database_url")
        if path == ":memory:":
            raise InvalidInput(
                "jobs in memory would not be durable; name a file: sqlite:///jobs.db", field="database_url"
            )
        sqlite = SqliteDatabase(Path(path), clock)
        return Store(sqlite, SqliteNotifier(sqlite.path))
    if parts.scheme in ("postgresql", "postgres"):
        postgres = PostgresDatabase(url, pool_size=pool_size)
        return Store(postgres, PostgresNotifier(postgres, listen_url))
    raise InvalidInput(
        f"{parts.scheme or masked(url)!r} is not a database Hanbeon knows; use sqlite:///jobs.db or postgresql://…",
        field="database_url",
    )


async def migrate(url: str, clock: Clock | None = None) -> list[int]:
    """Bring a database's schema up to date; the versions applied. SQLite does it by itself whenever it is opened."""
    store = open_store(url, clock or SystemClock())
    try:
        if isinstance(store.database, PostgresDatabase):
            await store.database.connect()
            return await store.database.migrate()
        await store.database.open()
        return []
    finally:
        await store.close()
