"""Paths that workers report: only regular files below the export root, reached through no symbolic link."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from pathlib import Path
from typing import BinaryIO

from hanbeon.errors import InvalidOutputPath
from hanbeon.quotation import quoted

_PATH_BYTES = 4_096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking: the opening of a named pipe would wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SEPARATORS = frozenset("/\\")


class Missing(Exception):
    """There is no file at a path that could be one of ours."""


def open_below(root: Path, uri: str) -> BinaryIO:
    """Open a file below the root. Raises InvalidOutputPath for any other path, and Missing if there is none.

    Each folder is opened from the one above it, so that nothing changes between a check and the opening.
    """
    *folders, name = _names(root, uri)
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Missing from error
    try:
        for each in folders:
            below = os.open(each, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError as error:
        raise Missing from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise InvalidOutputPath(f"{quoted(uri)} leads through a symbolic link, or a file") from None
        raise InvalidOutputPath(f"{quoted(uri)} cannot be opened: {os.strerror(error.errno or 0)}") from None
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidOutputPath(f"{quoted(uri)} is not a regular file")
    return os.fdopen(descriptor, "rb", buffering=0)


def _names(root: Path, uri: str) -> list[str]:
    """Return the names on the way from the root to the file; raises if that is no way down."""
    try:
        size = len(uri.encode())
    except UnicodeEncodeError:
        raise InvalidOutputPath("it is no text in UTF-8") from None
    if size > _PATH_BYTES:
        raise InvalidOutputPath(f"it has {size:,} bytes, and a path at most {_PATH_BYTES:,}")
    if "\0" in uri:
        raise InvalidOutputPath("it contains NUL")
    beginning = f"{str(root).rstrip('/')}/"
    if not uri.startswith(beginning):
        raise InvalidOutputPath(f"{quoted(uri)} does not begin with it")
    names = uri.removeprefix(beginning).split("/")
    for name in names:
        # Names that only look like a way up, or like a separator, are refused as well: others may normalise them.
        alike = unicodedata.normalize("NFKC", name)
        if name in ("", ".", "..") or alike in (".", "..") or _SEPARATORS & set(alike):
            raise InvalidOutputPath(f"{quoted(uri)} is not a plain path")
    return names
