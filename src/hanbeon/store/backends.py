"""Opening a store from its URL, and migrating its schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from hanbeon.clock import Clock
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.settings import masked
from hanbeon.store.database.notify import Notifier, PostgresNotifier, SqliteNotifier
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.database.sqlite import SqliteDatabase
from hanbeon.store.database.sqlite_thread import SqliteHost
from hanbeon.store.fast.postgres import PostgresFastPath
from hanbeon.store.fast.sqlite import SqliteFastPath
from hanbeon.store.store import Store


def absolute_url(url: str) -> str:
    """Return the URL of a database so that it means the same in any folder."""
    scheme, separator, path = url.partition(":///")
    if scheme != "sqlite" or path.startswith("/"):
        return url
    return f"{scheme}{separator}{quote(str(Path(unquote(path)).absolute()))}"


def open_store(
    url: str,
    clock: Clock,
    *,
    pool_size: int = 10,
    listen_url: str | None = None,
    fast: bool = True,
    sqlite_host: SqliteHost | None = None,
    sqlite_notifier: Callable[[Path], Notifier] = SqliteNotifier,
) -> Store:
    """Return the store of a URL, not yet open: `sqlite:///relative.db`, `sqlite:////absolute.db`, `postgresql://…`.

    `fast`: with the fast paths, which are optional. `sqlite_host`, `sqlite_notifier`: for a simulation.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        # The original message may quote a part of a password.
        raise InvalidInput(
            Rule("database_url", got=repr(masked(url))),
            field="database_url",
        ) from None
    if parts.scheme == "sqlite":
        path = unquote(parts.path.removeprefix("/"))
        if not path or parts.netloc:
            raise InvalidInput(Rule("sqlite_file", got=repr(masked(url))), field="database_url")
        if path == ":memory:":
            raise InvalidInput(
                Rule("sqlite_not_in_memory"),
                field="database_url",
            )
        sqlite = SqliteDatabase(Path(path), clock, sqlite_host)
        return Store(sqlite, sqlite_notifier(sqlite.path), clock, SqliteFastPath(sqlite, clock) if fast else None)
    if parts.scheme in ("postgresql", "postgres"):
        postgres = PostgresDatabase(url, pool_size=pool_size)
        notifier = PostgresNotifier(postgres, listen_url)
        return Store(postgres, notifier, clock, PostgresFastPath(postgres, notifier, clock) if fast else None)
    raise InvalidInput(
        Rule("database_scheme", got=repr(parts.scheme or masked(url))),
        field="database_url",
    )
