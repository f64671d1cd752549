"""API tokens, and logins of browsers, which stand for a token wherever one is accepted."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Collection
from typing import NamedTuple

from hanbeon.domain.access import Scope
from hanbeon.domain.job import check_name
from hanbeon.errors import DatabaseUnavailable, InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.operations import access as logins
from hanbeon.store.operations import access as tokens
from hanbeon.store.operations.access import LoginRecord, TokenRecord
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx

_PREFIX = "hanbeon_"
_RANDOM_BYTES = 32
_NUMBER_MAX = 2**63 - 1


class NewToken(NamedTuple):
    """A new token. Its text is stored nowhere and cannot be shown again."""

    text: str
    record: TokenRecord


async def create_token(store: Store, user: str, scope: str, request: str | None = None) -> NewToken:
    """Create a token. From the first one on, servers of this database require one from every client.

    `request`: an id of the request for it. A repeat cannot have the text again: it raises `TokenAlreadyCreated`.
    """
    check_name("user", user, required=True)
    if scope not in set(Scope):
        raise InvalidInput(Rule("must_be", what=Rule("one_of", choices=Scope), got=quoted(scope)), field="scope")
    text = _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    digest = hash_of(text)

    async def add(tx: Tx) -> TokenRecord:
        return await tokens.add_token(tx, digest, user, Scope(scope), request)

    async def find_or_add(tx: Tx) -> TokenRecord:
        return (await tokens.tokens(tx)).get(digest) or await add(tx)

    try:
        return NewToken(text, await store.write(add))
    except DatabaseUnavailable:
        # Its answer may be what was lost: the first token, if nobody knows it, would lock everybody out.
        return NewToken(text, await store.write(find_or_add))


async def list_tokens(store: Store) -> list[TokenRecord]:
    return list((await all_tokens(store)).values())


async def all_tokens(store: Store) -> dict[str, TokenRecord]:
    """Return the tokens by hash."""
    return await store.read(tokens.tokens)


async def revoke_token(store: Store, number: int) -> TokenRecord:
    if not 0 <= number <= _NUMBER_MAX:
        raise InvalidInput(Rule("must_be", what=Rule("token_number"), got=number), field="id")
    return await store.write(lambda tx: tokens.revoke_token(tx, number))


async def note_use(store: Store, number: int) -> None:
    await store.write(lambda tx: tokens.touch_token(tx, number))


def hash_of(text: str) -> str:
    """Hash a token. A fast hash is enough for 256 random bits, which cannot be guessed."""
    return hashlib.sha256(text.encode()).hexdigest()


def find_token(known: dict[str, TokenRecord], text: str) -> TokenRecord | None:
    """Return the valid token with this text, compared in constant time."""
    digest = hash_of(text)
    found = None
    for each, record in known.items():
        if hmac.compare_digest(each, digest) and record.revoked_at is None:
            found = record
    return found


class NewLogin(NamedTuple):
    """A new login. Its text is the value of the cookie, and is stored nowhere."""

    text: str
    record: LoginRecord


async def create_login(store: Store, user: str, scope: Scope, *, token: int | None, until: int | None) -> NewLogin:
    text = secrets.token_urlsafe(_RANDOM_BYTES)
    made = await store.write(
        lambda tx: logins.add_login(tx, hash_of(text), user, scope, token=token, until=until),
    )
    return NewLogin(text, made)


async def find_logins(store: Store, digests: Collection[str]) -> dict[str, LoginRecord]:
    """Return those of these logins that have not ended, by the hashes of their cookies."""
    return await store.read(lambda tx: logins.logins(tx, digests))


async def end_login(store: Store, text: str) -> None:
    await store.write(lambda tx: logins.drop_login(tx, hash_of(text)))
