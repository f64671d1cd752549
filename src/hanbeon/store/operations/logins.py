"""Logins of browsers, by the hashes of their cookies."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from hanbeon.domain.access import Scope
from hanbeon.store.tx import Tx, in_parts, to_json

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


async def logins(tx: Tx, digests: Collection[str]) -> dict[str, LoginRecord]:
    """Return those of these logins that have not ended."""
    found: dict[str, LoginRecord] = {}
    for part in in_parts(list(digests), _AT_ONCE):
        found |= {row["hash"]: _record(row) for row in await tx.fetch("logins_by_hash", to_json(part))}
    return found


async def drop_login(tx: Tx, digest: str) -> None:
    await tx.fetch("drop_login", digest)


async def prune_logins(tx: Tx, limit: int, lag_us: int = 0) -> int:
    return len(await tx.fetch("prune_logins", lag_us, limit))


def _record(row: Any) -> LoginRecord:
    return msgspec.convert({name: row[name] for name in LoginRecord.__struct_fields__}, LoginRecord)
