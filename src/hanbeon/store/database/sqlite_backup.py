"""Copies of a SQLite database: taken while it is in use, checked, and put in the place of another."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hanbeon.errors import Conflict, DatabaseUnavailable, InvalidInput, NotFound
from hanbeon.rule import Rule
from hanbeon.store import schema
from hanbeon.store.database.drivers import apsw
from hanbeon.store.database.sqlite_files import OURS_ALONE, SIDECARS
from hanbeon.store.dialect import Sqlite
from hanbeon.store.statements import statement

_BUSY_MS = 5_000
_FAULTS_SHOWN = 3


def copy_database(source: Path, target: Path, *, force: bool = False) -> int:
    """Copy a database, as of one moment, into a new file that only its owner can read; return its size.

    Writers go on meanwhile. The copy appears whole or not at all, and is on the disk when this returns.
    """
    if not source.is_file():
        raise NotFound(Rule("no_backup_file", path=source))
    target = target.absolute()
    if not force and target.exists():
        raise Conflict(Rule("backup_exists", path=target))
    if target.exists() and target.samefile(source):
        raise InvalidInput(Rule("same_file_as_database", got=target), field="target")
    with _part_of(target) as part:
        with _opened(source) as original, _opened(part) as copy:
            with copy.backup("main", original, "main") as copying:
                copying.step()
            # Without a write-ahead log it is one file, which can be moved and read anywhere.
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
        _sync(part)
        if force:
            os.replace(part, target)
        else:
            _link_new(part, target)
        _sync(target.parent)
        return target.stat().st_size


def check_copy(path: Path) -> None:
    """Raise unless the file is a whole database that this release can use."""
    if not path.is_file():
        raise NotFound(Rule("no_backup_file", path=path))
    with _opened(path) as db:
        faults = [str(row[0]) for row in db.execute(f"PRAGMA integrity_check({_FAULTS_SHOWN})")]
        if faults != ["ok"]:
            raise DatabaseUnavailable(Rule("backup_damaged", path=faults, faults=faults))
        found = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'hanbeon_schema_version'").fetchall()
        versions = db.execute(statement("schema_version", Sqlite)).fetchall() if found else []
        # An older one is migrated when it is opened.
        schema.check(*(max(versions[0][0] or 0, schema.VERSION), versions[0][1]) if versions else (None, None))


class Replacement(NamedTuple):
    """A new database, and the name under which the one that it replaces is kept, if there is one."""

    part: Path
    kept: Path | None


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Replacement]:
    """Give a path for a new database, which replaces `target` at the end of the block; the old one is kept beside it.

    Refused while any process has the target open. One that opens it meanwhile waits, and then finds the old file moved.
    """
    with contextlib.ExitStack() as held:
        part = held.enter_context(_part_of(target))
        kept = None
        if target.exists():
            held.enter_context(_locked(target))
            kept = _free_name(target)
        yield Replacement(part, kept)
        for suffix in SIDECARS:
            if Path(f"{part}{suffix}").exists():
                raise DatabaseUnavailable(Rule("still_open", path=part))
        _sync(part)
        if kept is not None:
            os.link(target, kept)
        os.replace(part, target)
        _sync(target.parent)


def _free_name(target: Path) -> Path:
    """Return where to keep what is replaced. Two restores within a second keep both; the target is locked meanwhile."""
    name = f"{target.name}.replaced-{time.strftime('%Y%m%dT%H%M%S')}"
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(path for each in names if not (path := target.with_name(each)).exists())


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a database alone, with everything in its main file."""
    with _opened(path) as db:
        try:
            # In this mode the first access takes the lock that every open connection shares, and keeps it.
            db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            db.execute("BEGIN EXCLUSIVE; COMMIT").fetchall()
            db.execute("PRAGMA journal_mode = DELETE").fetchall()
            # Changing the mode gives the lock back; this takes it again, for as long as the block lasts.
            db.execute("BEGIN EXCLUSIVE").fetchall()
        except apsw.BusyError as error:
            raise Conflict(Rule("open_elsewhere", path=path)) from error
        yield


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            db.set_busy_timeout(_BUSY_MS)
            yield db
        finally:
            db.close()
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise DatabaseUnavailable(Rule("backup_not_sqlite", path=path, error=error)) from error
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError) as error:
        raise DatabaseUnavailable(Rule("backup_unusable", path=path, error=error)) from error


@contextlib.contextmanager
def _part_of(target: Path) -> Iterator[Path]:
    """Give an empty file of ours beside the target; what is left of it at the end is deleted."""
    part = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, OURS_ALONE))
    except OSError as error:
        raise DatabaseUnavailable(Rule("backup_unwritable", path=target, error=error)) from error
    try:
        yield part
    finally:
        for suffix in ("", *SIDECARS, "-journal"):
            Path(f"{part}{suffix}").unlink(missing_ok=True)


def _link_new(part: Path, target: Path) -> None:
    """Give the file its name, unless another has it: a check beforehand could be overtaken."""
    try:
        os.link(part, target)
    except FileExistsError as error:
        raise Conflict(Rule("backup_exists", path=target)) from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
