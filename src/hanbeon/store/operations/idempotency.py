"""The first answers to requests with an Idempotency-Key, kept for as long as the request may come again."""

from __future__ import annotations

import msgspec

from hanbeon.store.tx import Tx, to_json


class IdempotentRequest(msgspec.Struct, frozen=True):
    """Who asks, under which key, and for what."""

    user: str
    key: str
    digest: str


class StoredResponse(msgspec.Struct, frozen=True):
    """What was answered; without a status, not yet."""

    digest: str
    status: int | None
    headers: dict[str, str]
    body: str


async def begin_request(
    tx: Tx, asked: IdempotentRequest, seed: str, kept_us: int, dead_us: int
) -> StoredResponse | str:
    """What the first one with this key asked and got; a seed if the caller is the first, and nobody else is."""
    for row in await tx.fetch("begin_request", asked.user, asked.key, asked.digest, seed, kept_us, dead_us):
        return str(row["seed"])
    (row,) = await tx.fetch("stored_response", asked.user, asked.key)
    headers = msgspec.json.decode(row["headers"] or "{}", type=dict[str, str])
    return StoredResponse(row["digest"], row["status"], headers, row["body"] or "")


async def store_response(tx: Tx, asked: IdempotentRequest, status: int, headers: dict[str, str], body: str) -> None:
    await tx.fetch("store_response", asked.user, asked.key, asked.digest, status, to_json(headers), body)


async def forget_request(tx: Tx, asked: IdempotentRequest) -> None:
    """Nothing was done: the request may come again as if it had never come."""
    await tx.fetch("forget_request", asked.user, asked.key, asked.digest)


async def prune_responses(tx: Tx, kept_us: int) -> None:
    await tx.fetch("prune_responses", kept_us)
