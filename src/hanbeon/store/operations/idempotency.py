"""Stored responses of requests with an Idempotency-Key, for as long as the request may be repeated."""

from __future__ import annotations

import msgspec

from hanbeon.store.tx import Tx, to_json

KEPT_US = 24 * 3_600 * 1_000_000
"""How long a request may be repeated under its key."""


class IdempotentRequest(msgspec.Struct, frozen=True):
    """A try of a request under a key: its user, key and digest, the server that runs it, and a seed for new ids."""

    user: str
    key: str
    digest: str
    seed: str
    holder: str
    alone: bool
    """No other try of this request runs on this server."""


class StoredResponse(msgspec.Struct, frozen=True):
    """The response to the first request; without a status, it is still running."""

    digest: str
    status: int | None
    headers: dict[str, str]
    body: str


async def begin_request(tx: Tx, request: IdempotentRequest, kept_us: int, dead_us: int) -> StoredResponse | str:
    """Return the response to the first request with this key; a seed if the caller is to run it.

    The seed is that of the first request, as long as its outcome is unknown: the ids made from it find its effects.
    """
    lost_by = request.holder if request.alone else ""
    values = (*_names(request), request.seed, request.holder, kept_us, dead_us, lost_by)
    for row in await tx.fetch("begin_request", *values):
        return str(row["seed"])
    (row,) = await tx.fetch("stored_response", request.user, request.key)
    headers = msgspec.json.decode(row["headers"] or "{}", type=dict[str, str])
    return StoredResponse(row["digest"], row["status"], headers, row["body"] or "")


async def store_response(tx: Tx, request: IdempotentRequest, status: int, headers: dict[str, str], body: str) -> None:
    await tx.fetch("store_response", *_names(request), status, to_json(headers), body)


async def forget_request(tx: Tx, request: IdempotentRequest) -> None:
    """Forget a request that had no effect, so that its key can be used again.

    If it was tried before, an earlier try may have had its effect: then it is only released.
    """
    if not await tx.fetch("forget_request", *_names(request), request.seed, request.holder):
        await release_request(tx, request)


async def release_request(tx: Tx, request: IdempotentRequest) -> None:
    """Let the next request with this key take over at once: the outcome of this one is unknown."""
    await tx.fetch("release_request", *_names(request), request.holder)


async def prune_responses(tx: Tx, limit: int, lag_us: int = 0) -> int:
    return len(await tx.fetch("prune_responses", KEPT_US + lag_us, limit))


def _names(request: IdempotentRequest) -> tuple[str, str, str]:
    return request.user, request.key, request.digest
