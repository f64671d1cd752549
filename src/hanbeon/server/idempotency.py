"""Idempotency-Key support: replays the stored response of the first request."""

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
"""After this long without a response, the server that began the request is presumed dead."""
_PRUNE_SECONDS = 60.0
KEY_PATTERN = r"^[\x21-\x7e]{1,255}$"
_KEY = re.compile(KEY_PATTERN.strip("^$"), re.ASCII)
_HEADERS = ("location", "etag")


class Idempotency:
    """Runs the request of each key once. A rejected request wrote nothing and may be repeated under its key."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._pruned_at = -math.inf

    async def once(self, request: ApiRequest, answer: Callable[[], Awaitable[Response]]) -> Response:
        if KEY not in request.http.headers:
            return await answer()
        first = IdempotentRequest(request.principal.user, _key(request), await _digest(request))
        seed = str(uuid_utils.uuid7())
        found = await self._store.write(
            lambda tx: idempotency.begin_request(tx, first, seed, micros(KEPT_SECONDS), micros(DEAD_SECONDS))
        )
        if isinstance(found, StoredResponse):
            return _again(first, found)
        request.seed = found
        try:
            response = await answer()
        except (HanbeonError, Refused):
            with contextlib.suppress(DatabaseUnavailable):
                await self._store.write(lambda tx: idempotency.forget_request(tx, first))
            raise
        # The work is done: the client gets its response even if that cannot be stored for a repeat.
        with contextlib.suppress(DatabaseUnavailable):
            await self._keep(first, response)
        return response

    async def _keep(self, first: IdempotentRequest, response: Response) -> None:
        headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
        body = bytes(response.body).decode()
        await self._store.write(lambda tx: idempotency.store_response(tx, first, response.status_code, headers, body))
        if self._clock.monotonic() - self._pruned_at > _PRUNE_SECONDS:
            self._pruned_at = self._clock.monotonic()
            await self._store.write(lambda tx: idempotency.prune_responses(tx, micros(KEPT_SECONDS)))


def _key(request: ApiRequest) -> str:
    values = request.http.headers.getlist(KEY)
    if len(values) != 1 or not _KEY.fullmatch(values[0]):
        raise InvalidInput("must be one value of 1 to 255 visible ASCII characters", field="Idempotency-Key")
    return values[0]


async def _digest(request: ApiRequest) -> str:
    """A digest of method, path, query and body."""
    head = f"{request.http.method} {request.http.url.path}?{request.http.url.query}\n".encode()
    return hashlib.sha256(head + await request.body()).hexdigest()


def _again(first: IdempotentRequest, before: StoredResponse) -> Response:
    if before.digest != first.digest:
        raise Refused("key_already_used", "send the original request again, or use a new key")
    if before.status is None:
        raise Refused("still_under_way", "wait as long as Retry-After says, then send it again", {"Retry-After": "1"})
    headers = {**before.headers, "Idempotent-Replayed": "true"}
    return Response(before.body, before.status, headers, media_type="application/json")
