"""The files of an open SQLite database: still the ones that were opened, and nobody else's to read."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from hanbeon.errors import DatabaseCorrupt, DatabaseUnavailable, SecondSqliteLibrary
from hanbeon.logs import get_logger
from hanbeon.rule import Rule
from hanbeon.store.database.drivers import apsw
from hanbeon.store.database.sqlite_errors import FileDamage, keep_log

SIDECARS = ("-wal", "-shm")
OURS_ALONE = 0o600
"""The database holds the secrets of webhooks. SQLite gives its sidecars the mode of the main file."""

_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH
_log = get_logger("hanbeon.store")


class OpenFiles:
    """The files that a connection has open, by device and inode, and what is known of their content.

    A file that is deleted, replaced or damaged keeps taking commits through the open handle, and all of them are gone
    after a restart. Checking costs five system calls, far less than a commit.
    """

    def __init__(self, path: Path, db: apsw.Connection) -> None:
        """Remember the files of a connection that has read at least once, since it then has all of them open.

        If they are whole, the connection need not keep its log any longer.
        """
        self._db = db
        # `path` may be a link, which can be pointed elsewhere; SQLite keeps its sidecars beside the real file.
        self._names = (str(path), *(f"{db.filename}{suffix}" for suffix in SIDECARS))
        try:
            found = [os.stat(name) for name in self._names]
        except OSError as error:
            raise DatabaseUnavailable(Rule("sqlite_gone", path=error.filename)) from error
        moved = ctypes.c_int()
        db.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(moved))
        if moved.value:
            raise DatabaseUnavailable(Rule("sqlite_gone", path=path))
        self._identities = [(each.st_dev, each.st_ino) for each in found]
        self._damage = FileDamage(db, found[0].st_size, found[1].st_size)
        keep_log(db, on=False)

    def expect(self, other: OpenFiles) -> None:
        """Raise from now on unless the files are those of another connection."""
        self._identities = other._identities

    def check(self) -> None:
        """Raise DatabaseUnavailable if a file is gone or another is in its place, DatabaseCorrupt if one is damaged.

        For the thread of the connection.
        """
        main, log, _ = self.check_identity()
        self._damage.check(main, log)

    def check_identity(self) -> list[int]:
        """Raise DatabaseUnavailable if a file is gone, or another is in its place; return the sizes."""
        sizes = []
        for name, identity in zip(self._names, self._identities, strict=True):
            try:
                status = os.stat(name)
            except OSError as error:
                raise DatabaseUnavailable(Rule("sqlite_gone", path=name)) from error
            if (status.st_dev, status.st_ino) != identity:
                raise DatabaseUnavailable(Rule("sqlite_gone", path=name))
            sizes.append(status.st_size)
        return sizes

    def close(self) -> None:
        """Look for damage for the last time, before the connection is closed."""
        try:
            self.check()
        except DatabaseCorrupt:
            keep_log(self._db, on=True)
        except (DatabaseUnavailable, apsw.Error):
            pass
        self._damage.close()

    def warn_if_readable(self) -> None:
        """Log a warning if other users of the machine can read the database."""
        for name, mode in _modes(self._names):
            if mode & _OTHERS_READ:
                _log.warning(
                    "database_readable_by_others",
                    file=name,
                    mode=f"{mode:04o}",
                    why="it holds the secrets of webhooks; run `chmod 600` on it and its -wal and -shm files",
                )


def _modes(names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for name in names:
        yield name, stat.S_IMODE(os.stat(name).st_mode)


_guarded: Counter[tuple[int, int]] = Counter()
_hooked = False


@contextlib.contextmanager
def guard_file(path: Path) -> Iterator[None]:
    """Reject `sqlite3.connect` on the file while the block lasts; raises if this process already has it open."""
    global _hooked  # noqa: PLW0603 - audit hooks cannot be removed, so there is one for the process
    try:
        if not path.exists():
            path.touch(mode=OURS_ALONE)
        key = _identity(path)
    except OSError as error:
        raise DatabaseUnavailable(Rule("sqlite_not_created", error=error)) from error
    if not _guarded[key] and _open_here(key):
        raise SecondSqliteLibrary(Rule("second_sqlite", path=path))
    if not _hooked:
        sys.addaudithook(_refuse_sqlite3)
        _hooked = True
    _guarded[key] += 1
    try:
        yield
    finally:
        _guarded[key] -= 1


def _refuse_sqlite3(event: str, args: tuple[Any, ...]) -> None:
    if event != "sqlite3.connect" or not +_guarded:
        return
    name = os.fsdecode(args[0]) if isinstance(args[0], str | bytes | os.PathLike) else ""
    if name.startswith("file:"):
        name = unquote(urlsplit(name).path)
    with contextlib.suppress(OSError):
        if _guarded[_identity(Path(name))]:
            raise SecondSqliteLibrary(Rule("second_sqlite", path=name))


def _open_here(key: tuple[int, int]) -> bool:
    """True if this process has the file open. Where the system cannot tell, only the hook protects."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                with contextlib.suppress(OSError, ValueError):
                    status = os.fstat(int(name))
                    if (status.st_dev, status.st_ino) == key:
                        return True
            return False
    return False


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
