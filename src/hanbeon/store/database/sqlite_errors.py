"""The border to apsw: its errors as ours, savepoints that keep them, and damage that only a restart would show."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from hanbeon.errors import DatabaseCorrupt, DatabaseUnavailable
from hanbeon.rule import Rule
from hanbeon.store.database.drivers import apsw

T = TypeVar("T")
BUSY_TIMEOUT_MS = 20_000


@contextlib.contextmanager
def savepoint(db: apsw.Connection) -> Iterator[None]:
    """Roll back what the block did if it raises.

    Not apsw's own, which raises an error of its own instead of the block's if there is nothing left to roll back to:
    an interrupt and some errors of the disk roll the whole transaction back, with its savepoints.
    """
    db.execute("SAVEPOINT hanbeon")
    try:
        yield
        db.execute("RELEASE hanbeon")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK TO hanbeon; RELEASE hanbeon")
        raise


def bordered(function: Callable[..., T], *args: Any) -> T:
    """Translate apsw's errors about the file into ours; a violated constraint is a defect and stays as it is."""
    try:
        return function(*args)
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
        raise DatabaseCorrupt(Rule("not_sqlite", error=error)) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise DatabaseUnavailable(Rule("sqlite_unwritable", error=error)) from error
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError) as error:
        raise DatabaseUnavailable(Rule("sqlite_locked", seconds=BUSY_TIMEOUT_MS // 1000, error=error)) from error
    except (apsw.FullError, apsw.IOError, apsw.NoMemError, apsw.InterruptError) as error:
        raise DatabaseUnavailable(Rule("sqlite_cannot_write", error=error)) from error
    except OSError as error:
        raise DatabaseUnavailable(Rule("sqlite_unusable", error=error)) from error


_MAGIC = b"SQLite format 3\0"
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LOG_MAGIC = (0x377F0682, 0x377F0683)
_SALT = slice(16, 24)
_READ_AT_ONCE = 4_096

_READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64)


class _Methods(ctypes.Structure):
    """The beginning of `sqlite3_io_methods`."""

    _fields_ = (("version", ctypes.c_int), ("close", ctypes.c_void_p), ("read", _READ))


class _File(ctypes.Structure):
    """`sqlite3_file`."""

    _fields_ = (("methods", ctypes.POINTER(_Methods)),)


def check_unopened(path: Path) -> None:
    """Raise for an empty file with a log beside it: SQLite takes it for a new database, and deletes the log."""
    log = Path(f"{path.resolve()}-wal")
    if path.exists() and path.stat().st_size == 0 and log.exists() and log.stat().st_size > 0:
        raise DatabaseCorrupt(Rule("sqlite_emptied", path=path, log=log.name))


def keep_log(db: apsw.Connection, *, on: bool) -> None:
    """Keep the log when the connection is closed; otherwise the last one moves it into the main file.

    In a file that was shortened, that would leave zeros in the place of missing pages, which no start could notice.
    """
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(on))


class FileDamage:
    """Compares the files of a connection with what they were. For the connection's own thread."""

    def __init__(self, db: apsw.Connection, main: int, log: int) -> None:
        """`main` and `log`: the sizes of the files now."""
        self._db = db
        # SQLite's own handle of the main file: a second one, once closed, would drop the locks of the first.
        self._file = ctypes.POINTER(_File)()
        db.file_control("main", apsw.SQLITE_FCNTL_FILE_POINTER, ctypes.addressof(self._file))
        self._read = self._file.contents.methods.contents.read
        self._header = ctypes.create_string_buffer(len(_MAGIC))
        self._name = db.filename
        # A descriptor of its own is safe for the log: SQLite has no lock on it, which closing would drop.
        self._log = os.open(f"{db.filename}-wal", os.O_RDONLY | os.O_CLOEXEC)
        self._main_size = self._log_size = 0
        self._salt = b""
        # After a power cut, a new log may have the size that it was given, and none of its content: no commit ever was.
        self._is_blank = _only_zeros(self._log)
        try:
            self._check_pages()
            self.check(main, log)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close it before the connection is closed or afterwards; nothing can be checked from then on."""
        if self._log >= 0:
            os.close(self._log)
            self._log = -1

    def check(self, main: int, log: int) -> None:
        """Raise DatabaseCorrupt if a file has lost its header, or a part that SQLite has not cut off."""
        if main < self._main_size:
            self._check_pages()  # It is shorter after a VACUUM, too.
        self._main_size = main
        code = self._read(self._file, self._header, len(_MAGIC), 0)
        if code not in (apsw.SQLITE_OK, apsw.SQLITE_IOERR_SHORT_READ):
            raise apsw.IOError(f"the header of {self._name} cannot be read (SQLite's code {code})")
        if self._header.raw != _MAGIC:  # What is not there has been read as zeros.
            raise DatabaseCorrupt(Rule("sqlite_lost_header", path=self._name))
        self._check_log(log)

    def _check_log(self, size: int) -> None:
        """An empty log is fine: others may have moved all of it into the main file, and emptied it."""
        if size:
            header = os.pread(self._log, _LOG_HEADER, 0)
            if self._is_blank and not any(header):
                return  # SQLite takes it for empty, and its first write begins with a header.
            self._is_blank = False
            # Until it is whole, another process may be about to write it.
            if len(header) == _LOG_HEADER and int.from_bytes(header[:4]) not in _LOG_MAGIC:
                raise DatabaseCorrupt(Rule("sqlite_lost_header", path=f"{self._name}-wal"))
            if size < self._log_size and header[_SALT] == self._salt:
                # A log that SQLite begins from the start, and may shorten, has another salt.
                raise DatabaseCorrupt(Rule("sqlite_shortened", path=f"{self._name}-wal", missing=None, pages=None))
            self._salt = header[_SALT]
        self._log_size = size

    def _check_pages(self) -> None:
        """Raise unless every page of the database is in its main file or in its log.

        In a transaction, which keeps others from moving pages from the one to the other meanwhile.
        """
        begins = not self._db.in_transaction
        if begins:
            self._db.execute("BEGIN")
        try:
            page_size, pages = (int(self._db.pragma(name)) for name in ("page_size", "page_count"))
            there = os.stat(self._name).st_size // page_size
            missing = set(range(there + 1, pages + 1))
            if missing:
                missing -= self._logged(page_size)
        finally:
            if begins:
                self._db.execute("ROLLBACK")
        if missing:
            raise DatabaseCorrupt(Rule("sqlite_shortened", path=self._name, missing=len(missing), pages=pages))

    def _logged(self, page_size: int) -> set[int]:
        """Return the numbers of the pages in the log."""
        salt = os.pread(self._log, _LOG_HEADER, 0)[_SALT]
        numbers, at = set(), _LOG_HEADER
        while len(frame := os.pread(self._log, _FRAME_HEADER, at)) == _FRAME_HEADER and frame[8:16] == salt:
            numbers.add(struct.unpack_from(">I", frame)[0])
            at += _FRAME_HEADER + page_size
        return numbers


def _only_zeros(file: int) -> bool:
    at = 0
    while part := os.pread(file, _READ_AT_ONCE, at):
        if any(part):
            return False
        at += len(part)
    return at > 0
