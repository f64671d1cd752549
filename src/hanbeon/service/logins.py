"""Logins of browsers: create, find and end. A login stands for a token wherever a token is accepted."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import NamedTuple

from hanbeon.domain.access import Scope
from hanbeon.service.tokens import hash_of
from hanbeon.store.operations import access as logins
from hanbeon.store.operations.access import LoginRecord
from hanbeon.store.store import Store

_RANDOM_BYTES = 32


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
