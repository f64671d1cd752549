"""Tokens: making, listing and revoking them, and knowing whose one is."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import NamedTuple

from hanbeon.domain.access import Scope
from hanbeon.domain.job import check_name
from hanbeon.errors import InvalidInput
from hanbeon.store.operations import tokens
from hanbeon.store.operations.tokens import TokenRecord
from hanbeon.store.store import Store

_PREFIX = "hanbeon_"
_RANDOM_BYTES = 32
_NUMBER_MAX = 2**63 - 1


class NewToken(NamedTuple):
    """A token that was just made. Its text is nowhere else, and cannot be had again."""

    text: str
    record: TokenRecord


async def create_token(store: Store, user: str, scope: str) -> NewToken:
    """Make a token. From the first one on, servers of this database want one from everybody."""
    check_name("user", user, required=True)
    if scope not in set(Scope):
        raise InvalidInput(f"{scope!r} is not a scope; use {', '.join(Scope)}", field="scope")
    text = _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    return NewToken(text, await store.write(lambda tx: tokens.add_token(tx, hash_of(text), user, Scope(scope))))


async def list_tokens(store: Store) -> list[TokenRecord]:
    return list((await all_tokens(store)).values())


async def all_tokens(store: Store) -> dict[str, TokenRecord]:
    """By hash."""
    return await store.read(tokens.tokens)


async def revoke_token(store: Store, number: int) -> TokenRecord:
    if not 0 <= number <= _NUMBER_MAX:
        raise InvalidInput(f"{number} is no number of a token", field="id")
    return await store.write(lambda tx: tokens.revoke_token(tx, number))


async def note_use(store: Store, number: int) -> None:
    await store.write(lambda tx: tokens.touch_token(tx, number))


def hash_of(text: str) -> str:
    """Of 256 random bits a plain hash is enough: there is nothing to guess that a slow one would protect."""
    return hashlib.sha256(text.encode()).hexdigest()


def find_token(known: dict[str, TokenRecord], text: str) -> TokenRecord | None:
    """The valid token that this is, compared in constant time."""
    digest = hash_of(text)
    found = None
    for each, record in known.items():
        if hmac.compare_digest(each, digest) and record.revoked_at is None:
            found = record
    return found
