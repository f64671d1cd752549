"""Access to the server: tokens by their hashes, and logins of browsers by the hashes of their cookies."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from hanbeon.domain.access import Scope
from hanbeon.errors import TokenAlreadyCreated, TokenNotFound
from hanbeon.store.tx import Tx, in_parts, to_json


class TokenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A token's record, without the secret."""

    id: int
    user_name: str
    scope: Scope
    created_at: int
    last_used_at: int | None
    revoked_at: int | None


async def add_token(tx: Tx, digest: str, user: str, scope: Scope, request: str | None = None) -> TokenRecord:
    """Add a token. `request`: an id of the request for it, which creates one token at the most."""
    for row in await tx.fetch("add_token", digest, user, scope.value, request):
        return _token(row)
    raise TokenAlreadyCreated((await tx.fetch("token_of_request", request))[0]["id"])


async def tokens(tx: Tx) -> dict[str, TokenRecord]:
    """Return all tokens, including revoked ones, by hash in the order of creation."""
    return {row["hash"]: _token(row) for row in await tx.fetch("tokens")}


async def revoke_token(tx: Tx, number: int) -> TokenRecord:
    """Revoke a token permanently; repeating it changes nothing."""
    rows = await tx.fetch("revoke_token", number)
    if not rows:
        raise TokenNotFound(number)
    return _token(rows[0])


async def touch_token(tx: Tx, number: int) -> None:
    await tx.fetch("touch_token", number)


def _token(row: Any) -> TokenRecord:
    return msgspec.convert({name: row[name] for name in TokenRecord.__struct_fields__}, TokenRecord)


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
    return _login(rows[0])


async def logins(tx: Tx, digests: Collection[str]) -> dict[str, LoginRecord]:
    """Return those of these logins that have not ended."""
    found: dict[str, LoginRecord] = {}
    for part in in_parts(list(digests), _AT_ONCE):
        found |= {row["hash"]: _login(row) for row in await tx.fetch("logins_by_hash", to_json(part))}
    return found


async def drop_login(tx: Tx, digest: str) -> None:
    await tx.fetch("drop_login", digest)


async def prune_logins(tx: Tx, limit: int, lag_us: int = 0) -> int:
    return len(await tx.fetch("prune_logins", lag_us, limit))


def _login(row: Any) -> LoginRecord:
    return msgspec.convert({name: row[name] for name in LoginRecord.__struct_fields__}, LoginRecord)
