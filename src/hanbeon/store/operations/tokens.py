"""Stored tokens, by their hashes."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain.access import Scope
from hanbeon.errors import TokenAlreadyCreated, TokenNotFound
from hanbeon.store.tx import Tx


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
        return _record(row)
    raise TokenAlreadyCreated((await tx.fetch("token_of_request", request))[0]["id"])


async def tokens(tx: Tx) -> dict[str, TokenRecord]:
    """Return all tokens, including revoked ones, by hash in the order of creation."""
    return {row["hash"]: _record(row) for row in await tx.fetch("tokens")}


async def revoke_token(tx: Tx, number: int) -> TokenRecord:
    """Revoke a token permanently; repeating it changes nothing."""
    rows = await tx.fetch("revoke_token", number)
    if not rows:
        raise TokenNotFound(number)
    return _record(rows[0])


async def touch_token(tx: Tx, number: int) -> None:
    await tx.fetch("touch_token", number)


def _record(row: Any) -> TokenRecord:
    return msgspec.convert({name: row[name] for name in TokenRecord.__struct_fields__}, TokenRecord)
