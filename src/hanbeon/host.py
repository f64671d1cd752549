"""The process that an App runs in, as far as a simulation replaces it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hanbeon.executors.local import LocalExecutors, local_executors
from hanbeon.store.database.notify import Notifier, SqliteNotifier
from hanbeon.store.database.sqlite_thread import SqliteHost


@dataclass(frozen=True)
class Host:
    """Threads and connections of SQLite, wake-ups between processes, and executors; the clock is the App's own."""

    sqlite: SqliteHost = field(default_factory=SqliteHost)
    sqlite_notifier: Callable[[Path], Notifier] = SqliteNotifier
    executors: LocalExecutors = local_executors
    watched: bool = True
    """A thread watches the event loops of workers."""
