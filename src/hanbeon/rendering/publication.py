"""Publication of a file: written under another name, and given its own once, whole, and never over another file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

_READ_BYTES = 1 << 20


@contextlib.contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """Yield a new name in the folder of `path`, and leave nothing under it. The folder must exist."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def publish(temporary: Path, path: Path) -> bool:
    """Give a whole file its name; False if there is a file of that name, which stays as it is."""
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return True


def sha256_of(path: Path, look: Callable[[], None] = lambda: None) -> str:
    """Return the SHA-256 of a file in hex; `look` is called for each part of it."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            digest.update(data)
            look()
    return digest.hexdigest()
