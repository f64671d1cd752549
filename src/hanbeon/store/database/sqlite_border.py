"""The border to apsw: its errors as ours, and savepoints that keep them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from hanbeon.errors import DatabaseCorrupt, DatabaseUnavailable
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
        raise DatabaseCorrupt(f"not a valid SQLite database: {error}; restore it from a backup") from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise DatabaseUnavailable(f"the SQLite file cannot be written: {error}; check its path and owner") from error
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError) as error:
        raise DatabaseUnavailable(
            f"the SQLite file was locked for more than {BUSY_TIMEOUT_MS // 1000} s: {error}; another process "
            "holds a write transaction open"
        ) from error
    except (apsw.FullError, apsw.IOError, apsw.NoMemError, apsw.InterruptError) as error:
        raise DatabaseUnavailable(f"SQLite cannot write: {error}; check disk space, memory and the disk") from error
    except OSError as error:
        raise DatabaseUnavailable(f"SQLite cannot be used: {error}; check the limit of open files") from error
