"""Idempotency-Key support: replays the stored response of the first request."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterator

from starlette.responses import Response

from hanbeon.cleanup import cleanup
from hanbeon.clock import MICROS, micros
from hanbeon.errors import HanbeonError, InvalidInput, Kind
from hanbeon.ids import new_id
from hanbeon.rule import Rule
from hanbeon.server.problems import Refused
from hanbeon.server.request import ApiRequest
from hanbeon.store.operations import idempotency
from hanbeon.store.operations.idempotency import IdempotentRequest, StoredResponse
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx

KEY = "idempotency-key"
KEPT_SECONDS = idempotency.KEPT_US / MICROS
DEAD_SECONDS = 60.0
"""After this long without a response, the server that began the request is presumed dead."""
_END_SECONDS = 5.0
KEY_PATTERN = r"^[\x21-\x7e]{1,255}$"
_KEY = re.compile(KEY_PATTERN.strip("^$"), re.ASCII)
_HEADERS = ("location", "etag")
_REFUSALS = (Kind.INVALID, Kind.NOT_FOUND, Kind.CONFLICT)


class Idempotency:
    """Runs the request of each key once. A rejected request wrote nothing and may be repeated under its key.

    Any other error says nothing about what was written: a commit may have taken effect although its answer was lost.
    Then the seed of the request's ids is kept, and the next request with the key takes it over at once. With the same
    ids it finds what the first one made.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._name = new_id()
        self._running: set[tuple[str, str]] = set()

    async def once(
        self, request: ApiRequest, answer: Callable[[], Awaitable[Response]], *, stored: bool = True
    ) -> Response:
        """Return the response of a request, or of the first one with its key.

        One that must not be stored is given once: a repeat runs again, with the ids of the first, and finds its effect.
        """
        if KEY not in request.http.headers:
            return await answer()
        user, key, digest = request.principal.user, _key(request), await _digest(request)
        with self._alone(user, key) as alone:
            first = IdempotentRequest(user, key, digest, new_id(), self._name, alone)
            try:
                found = await self._begin(first)
            except BaseException:
                # It wrote nothing but its row, if that: the answer to this may be what was lost.
                await self._end(first, idempotency.forget_request)
                raise
            if isinstance(found, StoredResponse):
                return _again(first, found)
            request.seed = found
            try:
                response = await answer()
            except BaseException as error:
                await self._end(
                    first, idempotency.forget_request if _is_refusal(error) else idempotency.release_request
                )
                raise
            if not stored:
                await self._end(first, idempotency.release_request)
                return response
            try:
                await self._keep(first, response)
            except HanbeonError:
                # The work is done: the client gets its response even if that cannot be stored for a repeat.
                await self._end(first, idempotency.release_request)
            return response

    @contextlib.contextmanager
    def _alone(self, user: str, key: str) -> Iterator[bool]:
        """Tell if the key is in use here. A request that this server holds and does not run has lost its answer."""
        name = (user, key)
        if name in self._running:
            yield False
            return
        self._running.add(name)
        try:
            yield True
        finally:
            self._running.discard(name)

    async def _begin(self, first: IdempotentRequest) -> StoredResponse | str:
        kept, dead = micros(KEPT_SECONDS), micros(DEAD_SECONDS)
        return await self._store.write(lambda tx: idempotency.begin_request(tx, first, kept, dead))

    @cleanup
    async def _end(self, first: IdempotentRequest, end: Callable[[Tx, IdempotentRequest], Awaitable[None]]) -> None:
        """Give the request up. If that cannot be written, this server knows anyway, and others find out in time."""
        if first.alone:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_END_SECONDS):
                    await self._store.write(lambda tx: end(tx, first))

    async def _keep(self, first: IdempotentRequest, response: Response) -> None:
        headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
        body = bytes(response.body).decode()
        await self._store.write(lambda tx: idempotency.store_response(tx, first, response.status_code, headers, body))


def _is_refusal(error: BaseException) -> bool:
    """True if the error proves that the request had no effect."""
    if isinstance(error, Refused):
        return error.status < 500
    return isinstance(error, HanbeonError) and error.kind in _REFUSALS


def _key(request: ApiRequest) -> str:
    values = request.http.headers.getlist(KEY)
    if len(values) != 1 or not _KEY.fullmatch(values[0]):
        raise InvalidInput(Rule("must_be", what=Rule("visible_ascii")), field="Idempotency-Key")
    return values[0]


async def _digest(request: ApiRequest) -> str:
    """A digest of method, path, query and body; for an upload, of the file."""
    head = f"{request.http.method} {request.http.url.path}?{request.http.url.query}\n".encode()
    body = await request.body() if request.body_digest is None else request.body_digest
    return hashlib.sha256(head + body).hexdigest()


def _again(first: IdempotentRequest, before: StoredResponse) -> Response:
    if before.digest != first.digest:
        raise Refused("key_already_used", "send the original request again, or use a new key")
    if before.status is None:
        raise Refused("still_under_way", "wait as long as Retry-After says, then send it again", {"Retry-After": "1"})
    headers = {**before.headers, "Idempotent-Replayed": "true"}
    return Response(before.body, before.status, headers, media_type="application/json")
