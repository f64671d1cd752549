"""Prevents a second SQLite library from opening the same file in this process.

POSIX file locks belong to the process: when one library closes the file, the other's locks are gone, and two writers
can collide. Measured: an acknowledged commit was lost. Python's own `sqlite3` is a different library from apsw's.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from hanbeon.errors import DatabaseUnavailable, SecondSqliteLibrary
from hanbeon.store.database.sqlite_files import OURS_ALONE

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
        raise DatabaseUnavailable(
            f"the SQLite file cannot be created: {error}; check its path and its owner"
        ) from error
    if not _guarded[key] and _open_here(key):
        raise SecondSqliteLibrary(_message(path))
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
            raise SecondSqliteLibrary(_message(Path(name)))


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


def _message(path: Path) -> str:
    return (
        f"{path} is open in this process through another SQLite library, and the two would drop each other's locks; "
        "use the App's own connection (ctx.transaction()), or open the file in another process"
    )
