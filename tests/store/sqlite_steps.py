"""The cost of reading on SQLite, in a number that does not depend on the machine's speed."""

from collections.abc import Awaitable
from typing import Any, Self

from hanbeon.store.database.sqlite import SqliteDatabase
from hanbeon.store.store import Store


class Steps:
    """Counts the steps of SQLite's virtual machine, which grow with every row that is looked at."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self) -> bool:
        self._count += 1
        return False  # It may go on.

    @classmethod
    def of_reader(cls, store: Store) -> Self:
        """Count what is read in this store."""
        counted = cls()
        assert isinstance(store.database, SqliteDatabase)
        assert store.database._reader is not None
        store.database._reader.db.set_progress_handler(counted, 1)
        return counted

    async def of(self, *asking: Awaitable[Any]) -> int:
        self._count = 0
        for each in asking:
            await each
        return self._count
