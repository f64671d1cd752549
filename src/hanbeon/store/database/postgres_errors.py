"""PostgreSQL's errors in our terms: the only place that tells a refusal of the moment from a fault of the statement."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from hanbeon.errors import DatabaseCorrupt, DatabaseRestored, DatabaseUnavailable
from hanbeon.rule import Rule
from hanbeon.store.database.drivers import asyncpg, asyncpg_classes

# Classes of SQLSTATE: the connection, resources (disk, memory, connections), operators (shutdown, fail-over), the
# system (input and output), and internal errors such as corrupt pages.
_REFUSING_CLASSES = frozenset({"08", "53", "57", "58", "XX"})
_CORRUPT = frozenset({"XX001", "XX002"})
# Read-only, as a standby is and a primary becomes during a fail-over; idle or too long in a transaction.
_REFUSING = frozenset({"25006", "25P03", "25P04"})
# The limits of time and locks that an operator set for the server, and rollbacks in favour of another transaction. In
# a task's own statements they may as well be the task's own doing, and stay as they are.
_CANCELLED = "57014"
_ROLLED_BACK_CLASS = "40"
_NOT_NOW = frozenset({"55000", "55006", "55P03"})
_PRIVILEGE = "42501"
_RESTORED = "HB001"
"""Raised by `hanbeon.check_incarnation`."""
_REJECTING_CLASSES = frozenset({"28", "3D"})


@contextlib.contextmanager
def border(address: str | None = None) -> Iterator[None]:
    """Translate the errors of the engine's own statements that say nothing about what was asked for.

    `address`: what is connected to, which the error of a connection names. Errors of statements may reach clients.
    """
    try:
        yield
    except asyncpg_classes.BROKEN as error:
        unavailable = _unavailable(error, address)
        if unavailable is None:
            raise
        raise unavailable from error


@contextlib.contextmanager
def user_border(is_gone: Callable[[], bool]) -> Iterator[None]:
    """Translate those errors of a task's statement that cannot be its own fault; the others are the driver's.

    `is_gone` tells whether its connection has ended: then it does not matter what the driver says.
    """
    try:
        yield
    except asyncpg_classes.BROKEN as error:
        code = _code(error)
        if isinstance(error, OSError) or (_refuses(code) and code != _CANCELLED) or is_gone():
            raise _refusal(error) from error
        raise


def _unavailable(error: Exception, address: str | None) -> DatabaseUnavailable | None:
    code = _code(error)
    if code == _RESTORED:
        return DatabaseRestored()
    if code == _PRIVILEGE:
        return DatabaseUnavailable(Rule("role_lacks_privilege", error=error))
    if code[:2] in _REJECTING_CLASSES:
        return DatabaseUnavailable(Rule("postgres_rejected", error=error))
    if code in _CORRUPT:
        return DatabaseCorrupt(Rule("postgres_damaged", error=error))
    if isinstance(error, OSError) or _refuses(code) or code[:2] == _ROLLED_BACK_CLASS or code in _NOT_NOW:
        return _refusal(error, address)
    if isinstance(error, asyncpg.PostgresError):
        return None
    # Raised for a broken connection as well as for misuse; only the first is worth a retry.
    return DatabaseUnavailable(Rule("postgres_broke", error=error))


def _refusal(error: Exception, address: str | None = None) -> DatabaseUnavailable:
    if isinstance(error, asyncpg.PostgresError) and not isinstance(error, asyncpg.PostgresConnectionError):
        return DatabaseUnavailable(Rule("postgres_refuses", error=error))
    return DatabaseUnavailable(Rule("postgres_silent", address=address, error=str(error) or type(error).__name__))


def _refuses(code: str) -> bool:
    return code[:2] in _REFUSING_CLASSES or code in _REFUSING


def _code(error: Exception) -> str:
    return getattr(error, "sqlstate", None) or ""
