"""Commits whose answer is lost, on each store: through a proxy on PostgreSQL, by hooks of the library on SQLite."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any, NamedTuple, Protocol

import apsw

from hanbeon import App
from hanbeon.store.database.sqlite import SqliteDatabase
from tests.databases.proxy import FaultProxy, fault_proxy


class CommitFaults(Protocol):
    """Loses the connection at the nth commit from now on, once. Only the transactions of one App are affected."""

    def before(self, nth: int = 1) -> None:
        """Lose it before the commit: nothing is written, but nobody tells."""

    def after(self, nth: int = 1) -> None:
        """Lose it after the commit: all is written, but nobody tells."""

    @property
    def struck(self) -> bool:
        """True once it has happened."""

    def heal(self) -> None:
        """Lose nothing any more."""


class LossyApp(NamedTuple):
    """An open App, and the faults of its connections; `url` leads past the faults."""

    app: App
    faults: CommitFaults
    url: str


class _PostgresFaults:
    def __init__(self, proxy: FaultProxy) -> None:
        self._proxy = proxy
        self._fault = proxy.cut_after(lambda statement: False)

    def before(self, nth: int = 1) -> None:
        self._fault = self._proxy.cut_before(nth=nth)

    def after(self, nth: int = 1) -> None:
        self._fault = self._proxy.cut_after(nth=nth)

    @property
    def struck(self) -> bool:
        return self._fault.struck.is_set()

    def heal(self) -> None:
        self._fault.struck.set()


class _SqliteFaults:
    """The library calls one hook before a commit and one after it; if a hook raises, so does the commit."""

    def __init__(self, database: SqliteDatabase) -> None:
        assert database._writer is not None
        self._db = database._writer.db
        self._left = 0
        self._after = False
        self.struck = False
        self._db.set_commit_hook(self._on_commit)
        self._db.set_wal_hook(self._on_wal)

    def before(self, nth: int = 1) -> None:
        self._left, self._after, self.struck = nth, False, False

    def after(self, nth: int = 1) -> None:
        self._left, self._after, self.struck = nth, True, False

    def heal(self) -> None:
        self._left = 0

    def _strikes(self, after: bool) -> bool:
        if self._left == 0 or self._after is not after:
            return False
        self._left -= 1
        self.struck = self._left == 0
        return self.struck

    def _on_commit(self) -> bool:
        if self._strikes(after=False):
            raise apsw.IOError("lost before the commit")
        return False

    def _on_wal(self, *_: Any) -> int:
        if self._strikes(after=True):
            raise apsw.IOError("lost after the commit")
        return 0


@contextlib.asynccontextmanager
async def lossy(url: str, **settings: Any) -> AsyncIterator[LossyApp]:
    """Open an App on the database of this URL, by way of faults."""
    async with contextlib.AsyncExitStack() as stack:
        if url.startswith("sqlite"):
            app = await stack.enter_async_context(App(url, **settings))
            database = app.store.database
            assert isinstance(database, SqliteDatabase)
            yield LossyApp(app, _SqliteFaults(database), url)
        else:
            proxy = await stack.enter_async_context(fault_proxy(url))
            app = await stack.enter_async_context(App(proxy.url, **settings))
            yield LossyApp(app, _PostgresFaults(proxy), url)
