"""Requests that come again under the same Idempotency-Key: done once, answered alike."""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
from collections.abc import Awaitable, Callable

import uuid_utils
from starlette.responses import Response

from hanbeon.clock import Clock, micros
from hanbeon.errors import DatabaseUnavailable, HanbeonError, InvalidInput
from hanbeon.server.problems import Refused
from hanbeon.server.request import ApiRequest
from hanbeon.store.operations import idempotency
from hanbeon.store.operations.idempotency import IdempotentRequest, StoredResponse
from hanbeon.store.store import Store

KEY = "idempotency-key"
KEPT_SECONDS = 24 * 3_600.0
DEAD_SECONDS = 60.0
"""Without an answer for so long, whoever began to answer is taken for dead."""
_PRUNE_SECONDS = 60.0
KEY_PATTERN = r"^[\x21-\x7e]{1,255}$"
_KEY = re.compile(KEY_PATTERN.strip("^$"), re.ASCII)
_HEADERS = ("location", "etag")


class Idempotency:
    """Answers each key once; what was refused wrote nothing, and may be tried again under the same key."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._pruned_at = -math.inf

    async def once(self, ask: ApiRequest, answer: Callable[[], Awaitable[Response]]) -> Response:
        if KEY not in ask.request.headers:
            return await answer()
        asked = IdempotentRequest(ask.who.user, _key(ask), await _digest(ask))
        seed = str(uuid_utils.uuid7())
        found = await self._store.write(
            lambda tx: idempotency.begin_request(tx, asked, seed, micros(KEPT_SECONDS), micros(DEAD_SECONDS))
        )
        if isinstance(found, StoredResponse):
            return _again(asked, found)
        ask.seed = found
        try:
            response = await answer()
        except (HanbeonError, Refused):
            with contextlib.suppress(DatabaseUnavailable):
                await self._store.write(lambda tx: idempotency.forget_request(tx, asked))
            raise
        # What was done is done, and told, even if it cannot be told again.
        with contextlib.suppress(DatabaseUnavailable):
            await self._keep(asked, response)
        return response

    async def _keep(self, asked: IdempotentRequest, response: Response) -> None:
        headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
        body = bytes(response.body).decode()
        await self._store.write(lambda tx: idempotency.store_response(tx, asked, response.status_code, headers, body))
        if self._clock.monotonic() - self._pruned_at > _PRUNE_SECONDS:
            self._pruned_at = self._clock.monotonic()
            await self._store.write(lambda tx: idempotency.prune_responses(tx, micros(KEPT_SECONDS)))


def _key(ask: ApiRequest) -> str:
    told = ask.request.headers.getlist(KEY)
    if len(told) != 1 or not _KEY.fullmatch(told[0]):
        raise InvalidInput("use one of up to 255 visible ASCII characters", field="Idempotency-Key")
    return told[0]


async def _digest(ask: ApiRequest) -> str:
    """Of all that says what is asked for."""
    request = f"{ask.request.method} {ask.request.url.path}?{ask.request.url.query}\n".encode()
    return hashlib.sha256(request + await ask.sent()).hexdigest()


def _again(asked: IdempotentRequest, before: StoredResponse) -> Response:
    if before.digest != asked.digest:
        raise Refused("key_already_used", "send the same request again, or choose a new key")
    if before.status is None:
        raise Refused("still_under_way", "wait a moment, and send it again", {"Retry-After": "1"})
    headers = {**before.headers, "Idempotent-Replayed": "true"}
    return Response(before.body, before.status, headers, media_type="application/json")
