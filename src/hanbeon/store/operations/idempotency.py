"""Stored responses of requests with an Idempotency-Key, for as long as the request may be repeated."""

from __future__ import annotations

import msgspec

from hanbeon.store.tx import Tx, to_json


class IdempotentRequest(msgspec.Struct, frozen=True):
    """The user, the key and the digest of a request."""

    user: str
    key: str
    digest: str


class StoredResponse(msgspec.Struct, frozen=True):
    """The response to the first request; without a status, it is still running."""

    digest: str
    status: int | None
    headers: dict[str, str]
    body: str


async def begin_request(
    tx: Tx, request: IdempotentRequest, seed: str, kept_us: int, dead_us: int
) -> StoredResponse | str:
    """Return the response to the first request with this key; a seed if the caller is the first."""
    for row in await tx.fetch("begin_request", request.user, request.key, request.digest, seed, kept_us, dead_us):
        return str(row["seed"])
    (row,) = await tx.fetch("stored_response", request.user, request.key)
    headers = msgspec.json.decode(row["headers"] or "{}", type=dict[str, str])
    return StoredResponse(row["digest"], row["status"], headers, row["body"] or "")


async def store_response(tx: Tx, request: IdempotentRequest, status: int, headers: dict[str, str], body: str) -> None:
    await tx.fetch("store_response", request.user, request.key, request.digest, status, to_json(headers), body)


async def forget_request(tx: Tx, request: IdempotentRequest) -> None:
    """Forget a request that had no effect, so that it can be repeated as if it were the first."""
    await tx.fetch("forget_request", request.user, request.key, request.digest)


async def prune_responses(tx: Tx, kept_us: int) -> None:
    await tx.fetch("prune_responses", kept_us)
