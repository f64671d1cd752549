"""Folders of uploads and exports, and paths that workers report: only regular files below, through no symbolic link."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from hanbeon.domain.bounds import PATH_BYTES
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.surfaces.exports.errors import InvalidOutputPath

_FILES = "hanbeon-files"


def export_root(settings: Settings) -> Path:
    """The folder below which exported files are."""
    return _root(settings, settings.jobs_export_path, "exports")


def replay_root(settings: Settings) -> Path:
    """The folder of uploaded replays."""
    return _root(settings, settings.replay_path, "replays")


def _root(settings: Settings, chosen: str | None, kind: str) -> Path:
    if chosen is not None:
        return Path(chosen).absolute()
    parts = urlsplit(settings.database_url)
    if parts.scheme == "sqlite":
        return Path(f"{unquote(parts.path.removeprefix('/'))}-files", kind).absolute()
    return Path(_FILES, kind).absolute()


def made(root: Path) -> Path:
    """Return the folder, which others on this machine cannot read if it is made now."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return root


_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDER = _ROOT | os.O_NOFOLLOW
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
        folder = os.open(root, _ROOT)
    except OSError as error:
        raise Missing from error
    with _refusing(uri):
        folder = _descend(folder, folders)
        try:
            descriptor = os.open(name, _FILE, dir_fd=folder)
        finally:
            os.close(folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidOutputPath(Rule("output_not_regular", path=quoted(uri)))
    return os.fdopen(descriptor, "rb", buffering=0)


def make_folder_of(root: Path, uri: str) -> None:
    """Make the folder of a file that is to be below the root. Raises InvalidOutputPath."""
    *folders, _ = _names(root, uri)
    folder = os.open(made(root), _ROOT)
    with _refusing(uri):
        os.close(_descend(folder, folders, make=True))


def _descend(folder: int, names: Sequence[str], *, make: bool = False) -> int:
    """Return the open folder at the end of the names, each opened from the one above it, which is closed."""
    try:
        for name in names:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=folder)
            below = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
    except BaseException:
        os.close(folder)
        raise
    return folder


@contextlib.contextmanager
def _refusing(uri: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise Missing from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise InvalidOutputPath(Rule("output_path_link", path=quoted(uri))) from None
        raise InvalidOutputPath(
            Rule("output_not_opened", path=quoted(uri), error=os.strerror(error.errno or 0))
        ) from None


def _names(root: Path, uri: str) -> list[str]:
    """Return the names on the way from the root to the file; raises if that is no way down."""
    try:
        size = len(uri.encode())
    except UnicodeEncodeError:
        raise InvalidOutputPath(Rule("output_path_not_utf8")) from None
    if size >= PATH_BYTES:
        raise InvalidOutputPath(Rule("output_path_too_long", got=size, most=PATH_BYTES))
    # U+FFFD stands for what could not be read or stored of a message.
    if "\0" in uri or "\ufffd" in uri:
        raise InvalidOutputPath(Rule("output_path_not_text"))
    beginning = f"{str(root).rstrip('/')}/"
    if not uri.startswith(beginning):
        raise InvalidOutputPath(Rule("output_path_outside", path=quoted(uri)))
    names = uri.removeprefix(beginning).split("/")
    for name in names:
        # Names that only look like a way up, or like a separator, are refused as well: others may normalise them.
        alike = unicodedata.normalize("NFKC", name)
        if name in ("", ".", "..") or alike in (".", "..") or _SEPARATORS & set(alike):
            raise InvalidOutputPath(Rule("output_path_not_plain", path=quoted(uri)))
    return names
