"""Files to delete, as rows: written before a file that may remain without an owner, and kept until it is gone.

A process may be killed between any two steps: then the row still names the file, and retention deletes both.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hanbeon.clock import MICROS
from hanbeon.store.tx import Tx, to_json

_FILES_A_STEP = 50
_LATER_US = 3_600 * MICROS
_GONE = (errno.ENOENT, errno.ENOTDIR)


class UnwantedFile(NamedTuple):
    """A file, or a folder of which the file `kept` stays, by its name below a root."""

    root: str
    path: str
    kept: str = ""
    delay_us: int = 0
    """How long it is left alone: the process that writes it may give it an owner until then."""


async def add_unwanted(tx: Tx, files: Iterable[UnwantedFile]) -> list[int]:
    """Write down files to delete; return the numbers of their rows."""
    rows = [each._asdict() for each in files]
    return [row["id"] for row in await tx.fetch("add_unwanted_files", to_json(rows))] if rows else []


async def forget_unwanted(tx: Tx, numbers: list[int]) -> int:
    """Remove rows whose files have an owner now, or are gone; return how many there were."""
    return len(await tx.fetch("forget_unwanted_files", to_json(numbers)))


async def delete_unwanted(tx: Tx, older_than_us: int = 0, limit: int = _FILES_A_STEP) -> int:
    """Delete the files that are due, then their rows; return how many. One that cannot be deleted is tried later.

    A root that this machine lacks is another's: its rows are left to an instance that has it.
    """
    rows = await tx.fetch("due_unwanted_files", min(limit, _FILES_A_STEP))
    gone: list[int] = []
    left: list[int] = []
    for row in rows:
        (gone if _delete(Path(row["root"]), row["path"], row["kept"]) else left).append(row["id"])
    if left:
        await tx.fetch("put_off_unwanted_files", to_json(left), _LATER_US)
    return await forget_unwanted(tx, gone) if gone else 0


def _delete(root: Path, name: str, kept: str) -> bool:
    if not root.is_dir():
        return False
    path = root / name
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            path.unlink()
        elif kept:
            for each in os.scandir(path):
                if each.name != kept:
                    _delete(path, each.name, "")
        else:
            shutil.rmtree(path)
    except OSError as error:
        return error.errno in _GONE
    return True


def delete_now(root: Path, name: str) -> None:
    """Delete a file at once, if that is possible; its row is what counts."""
    with contextlib.suppress(OSError):
        (root / name).unlink()
