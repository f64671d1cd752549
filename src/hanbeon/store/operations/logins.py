"""Logins of browsers, by the hashes of their cookies."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain.access import Scope
from hanbeon.store.tx import Tx

LOGIN_US = 12 * 3_600_000_000
_EACH_USER = 100
"""Logins of one user. More than that is a program that should send its token."""
_AT_ONCE = 1_000


class LoginRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A login's record, without the secret."""

    user_name: str
    scope: Scope
    expires_at: int


async def add_login(
    tx: Tx, digest: str, user: str, scope: Scope, *, token: int | None, until: int | None
) -> LoginRecord:
    """Add a login, which ends after twelve hours, or `until` if that is earlier; the user's oldest ones make room."""
    rows = await tx.fetch("add_login", digest, user, scope.value, token, LOGIN_US, until)
    await tx.fetch("drop_old_logins", user, _EACH_USER, _AT_ONCE)
    return _record(rows[0])


async def login(tx: Tx, digest: str) -> LoginRecord | None:
    """Return the login if it has not ended."""
    rows = await tx.fetch("login_by_hash", digest)
    return _record(rows[0]) if rows else None


async def drop_login(tx: Tx, digest: str) -> None:
    await tx.fetch("drop_login", digest)


async def prune_logins(tx: Tx, limit: int, lag_us: int = 0) -> int:
    return len(await tx.fetch("prune_logins", lag_us, limit))


def _record(row: Any) -> LoginRecord:
    return msgspec.convert({name: row[name] for name in LoginRecord.__struct_fields__}, LoginRecord)
