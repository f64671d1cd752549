"""Who asks, and whether they may. Without any token the machine itself is trusted, and nobody else."""

from __future__ import annotations

import contextlib
import ipaddress
import math
from urllib.parse import urlsplit

from starlette.requests import Request

from hanbeon.clock import Clock
from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.errors import DatabaseUnavailable
from hanbeon.logs import get_logger
from hanbeon.server.auth_throttle import AuthThrottle
from hanbeon.server.jwt import InvalidJwt, Issuer
from hanbeon.server.problems import Refused
from hanbeon.server.request import BEARER, Handshake, Principal
from hanbeon.service.tokens import all_tokens, find_token, note_use
from hanbeon.store.operations.tokens import TokenRecord
from hanbeon.store.store import Store

_log = get_logger("hanbeon.server")
_KNOWN_FOR_SECONDS = 1.0
_USE_NOTED_EVERY = 60.0
_TOKEN_BYTES = 512
_SAFE = ("GET", "HEAD")
LOCAL = Principal("local", Scope.ADMIN)
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="hanbeon"'}
_INVALID = {"WWW-Authenticate": 'Bearer realm="hanbeon", error="invalid_token"'}


class Authenticator:
    """Admits requests. What it knows of tokens is a second old at the most, on every server of the database."""

    def __init__(self, store: Store, clock: Clock, issuer: Issuer | None = None) -> None:
        self._store, self._clock, self._issuer = store, clock, issuer
        self._tokens: dict[str, TokenRecord] = {}
        self._read_at = -math.inf
        self._failures = AuthThrottle(clock)
        self._noted: dict[int, float] = {}

    async def closed(self) -> bool:
        """Whether nobody is let in without a token."""
        return self._issuer is not None or bool(await self._known())

    async def admit(self, request: Request, need: Need) -> Principal:
        """Who asks; refused if they may not."""
        if need is Need.NOTHING:
            return LOCAL
        # No browser asks before it lets a page open a WebSocket elsewhere, so those are held to it like changes.
        if request.method not in _SAFE or isinstance(request, Handshake):
            _check_origin(request)
        try:
            who = await self._recognised(request)
        except _Unknown as unknown:
            raise self._failed(request, str(unknown)) from None
        return _allowed(who, need)

    async def admit_again(self, request: Request, need: Need) -> None:
        """Refused if who was let in before would not be now: revoked, expired, or tokens have come to be needed."""
        try:
            _allowed(await self._recognised(request), need)
        except _Unknown as unknown:
            raise Refused("not_authenticated", str(unknown)) from None

    async def _recognised(self, request: Request) -> Principal:
        if not await self.closed():
            _check_local(request)
            return LOCAL
        text = _bearer(request)
        if self._issuer is not None and self._issuer.may_have_made(text):
            try:
                return self._issuer.who(text)
            except InvalidJwt as error:
                raise _Unknown(str(error)) from error
        found = find_token(await self._known(), text[:_TOKEN_BYTES])
        if found is None:
            raise _Unknown("the token is unknown or was revoked")
        await self._note_use(found)
        return Principal(found.user_name, found.scope)

    async def _known(self) -> dict[str, TokenRecord]:
        if self._clock.monotonic() - self._read_at > _KNOWN_FOR_SECONDS:
            asked_at = self._clock.monotonic()
            self._tokens = await all_tokens(self._store)
            self._read_at = asked_at
        return self._tokens

    def _failed(self, request: Request, why: str) -> Refused:
        address = address_of(request)
        _log.warning("token_refused", address=address, why=why)
        wait = self._failures.note(address)
        if wait:
            return Refused(
                "too_many_failures",
                "wait a while, and send a valid token",
                {"Retry-After": str(math.ceil(wait)), **_INVALID},
            )
        return Refused("not_authenticated", why, _INVALID)

    async def _note_use(self, token: TokenRecord) -> None:
        """Roughly: not every request is worth a write."""
        now = self._clock.monotonic()
        if now - self._noted.get(token.id, -math.inf) > _USE_NOTED_EVERY:
            self._noted[token.id] = now
            with contextlib.suppress(DatabaseUnavailable):
                await note_use(self._store, token.id)


class _Unknown(Exception):
    """A token that opens nothing, and why."""


def _bearer(request: Request) -> str:
    """The token. A browser cannot set headers of a WebSocket, so it may come there as the second subprotocol."""
    told = request.headers.getlist("authorization")
    scheme, _, text = told[0].partition(" ") if len(told) == 1 else ("", "", "")
    if not told and isinstance(request, Handshake) and len(request.offered) == 2:
        scheme, text = request.offered
    text = text.strip()
    if scheme.lower() != BEARER or not text:
        raise Refused(
            "not_authenticated", "send `Authorization: Bearer TOKEN`; `hanbeon token create` makes one", _CHALLENGE
        )
    return text


def _allowed(who: Principal, need: Need) -> Principal:
    if who.scope in ALLOWED[need]:
        return who
    allowed = ", ".join(scope for scope in Scope if scope in ALLOWED[need])
    raise Refused(
        "not_allowed",
        f"the token's scope is {who.scope}; this takes {allowed}",
        {"WWW-Authenticate": 'Bearer realm="hanbeon", error="insufficient_scope"'},
    )


def address_of(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def is_loopback(host: str) -> bool:
    """Whether this is an address or a name of the machine itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _check_local(request: Request) -> None:
    """Also the name it was asked under: a page of another site may have its own name lead to this machine."""
    if is_loopback(address_of(request)) and is_loopback(_host(f"//{request.headers.get('host', '')}")):
        return
    raise Refused(
        "foreign_host",
        "use http://127.0.0.1 or http://localhost; for anything else make a token: `hanbeon token create`",
    )


def _check_origin(request: Request) -> None:
    """A browser says which page asks. Our own have the address of the server, and no others are served."""
    origin = request.headers.get("origin")
    if origin is None:
        return
    _, _, place = origin.partition("://")
    if not place or place.lower() != request.headers.get("host", "").lower():
        raise Refused("foreign_origin", f"the page is of {origin[:100]!r}, and this server is another")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
