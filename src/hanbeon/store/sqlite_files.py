"""The files of an open SQLite database: still the ones that were opened, and nobody else's to read."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import apsw

from hanbeon.errors import DatabaseUnavailable
from hanbeon.logs import get_logger

SIDECARS = ("-wal", "-shm")
OURS_ALONE = 0o600
"""The database holds the secrets of webhooks. SQLite gives its sidecars the mode of the main file."""

_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH
_log = get_logger("hanbeon.store")
_Identity = tuple[int, int]


class OpenFiles:
    """The files that a connection has open, by device and inode.

    A file that is deleted or replaced keeps taking commits through the open handle, and all of them are gone after a
    restart. Checking costs three calls of `stat`, far less than a commit.
    """

    def __init__(self, path: Path, db: apsw.Connection) -> None:
        """Remember the files of a connection that has read at least once, since it then has all of them open."""
        # `path` may be a link, which can be pointed elsewhere; SQLite keeps its sidecars beside the real file.
        self._names = (str(path), *(f"{db.filename}{suffix}" for suffix in SIDECARS))
        try:
            self._identities = [_identity(name) for name in self._names]
        except OSError as error:
            raise DatabaseUnavailable(_gone(error.filename)) from error
        moved = ctypes.c_int()
        db.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(moved))
        if moved.value:
            raise DatabaseUnavailable(_gone(str(path)))

    def check(self) -> None:
        """Raise DatabaseUnavailable if a file is gone, or another is in its place."""
        for name, identity in zip(self._names, self._identities, strict=True):
            try:
                if _identity(name) == identity:
                    continue
            except OSError as error:
                raise DatabaseUnavailable(_gone(name)) from error
            raise DatabaseUnavailable(_gone(name))

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


def _identity(name: str) -> _Identity:
    status = os.stat(name)
    return status.st_dev, status.st_ino


def _modes(names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for name in names:
        yield name, stat.S_IMODE(os.stat(name).st_mode)


def _gone(name: str) -> str:
    return (
        f"the SQLite file {name} must stay in place while it is open, but it was deleted, moved or replaced: nothing "
        "written now would be there after a restart; put the file back, or restart Hanbeon to use what is there now"
    )
