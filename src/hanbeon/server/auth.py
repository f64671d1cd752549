"""Authentication and authorization. While no token exists, only requests from this machine are trusted."""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import math
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request

from hanbeon.clock import Clock
from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.errors import DatabaseUnavailable
from hanbeon.logs import get_logger
from hanbeon.quotation import quoted
from hanbeon.server.auth_throttle import AuthThrottle
from hanbeon.server.jwt import InvalidJwt, Issuer
from hanbeon.server.login_cache import LoginCache
from hanbeon.server.problems import Refused
from hanbeon.server.request import BEARER, Handshake, Principal
from hanbeon.server.shared_read import SharedRead
from hanbeon.service.tokens import NewLogin, all_tokens, create_login, end_login, find_token, note_use
from hanbeon.store.operations.access import TokenRecord
from hanbeon.store.store import Store

_log = get_logger("hanbeon.server")
_KNOWN_FOR_SECONDS = 1.0
_USE_NOTED_EVERY = 60.0
_TOKEN_BYTES = 512
_COOKIE = "hanbeon_session"
_MICROSECONDS = 1_000_000
_SAFE = ("GET", "HEAD")
LOCAL = Principal("local", Scope.ADMIN)
CRON = Principal("cron", Scope.CRON)
_FORWARDED = "x-forwarded"
_OF_PROXIES = frozenset(
    (
        *("forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-original-host", "forwarded-for"),
        *(
            "true-client-ip",
            "cf-connecting-ip",
            "fly-client-ip",
            "x-envoy-external-address",
            "x-original-forwarded-for",
        ),
    )
)
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="hanbeon"'}
_INVALID = {"WWW-Authenticate": 'Bearer realm="hanbeon", error="invalid_token"'}


class Authenticator:
    """Authenticates requests. Its copy of the tokens is at most a second old, on every server of the database."""

    def __init__(
        self, store: Store, clock: Clock, issuer: Issuer | None = None, cron_secret: str | None = None
    ) -> None:
        """`cron_secret`: a token of scope cron that the settings give, beside those of the database."""
        self._store, self._clock, self._issuer = store, clock, issuer
        self._cron_secret = None if cron_secret is None else cron_secret.encode()
        self._tokens: dict[str, TokenRecord] = {}
        self._read_at = -math.inf
        self._reading = SharedRead(self._read_tokens)
        self._failures = AuthThrottle(clock)
        self._noted: dict[int, float] = {}
        self._logins = LoginCache(store, clock)

    async def closed(self, *, token_sent: bool = False) -> bool:
        """Return true if every request needs a token.

        `token_sent`: somebody sends one, so the first may have been created since the last read.
        """
        if self._issuer is not None or self._cron_secret is not None or await self._known():
            return True
        if token_sent:
            await self._reading.get()
        return bool(self._tokens)

    async def admit(self, request: Request, need: Need, *, acts: bool = False) -> Principal:
        """Return the principal of a request; raises `Refused` if it may not send it. `acts`: of a GET, too."""
        # Browsers let a page open a WebSocket to any site without a CORS check, so handshakes are checked like changes.
        if request.method not in _SAFE or isinstance(request, Handshake):
            _check_origin(request)
        elif acts:
            _check_origin(request)
            _check_site(request)
        if need is Need.NOTHING:
            return LOCAL
        try:
            who = await self._recognised(request)
        except _Unknown as unknown:
            raise self._failed(request, str(unknown)) from None
        return _allowed(who, need)

    async def admit_again(self, request: Request, need: Need) -> None:
        """Raise `Refused` if the token was revoked or has expired since, or if a token has become required."""
        try:
            _allowed(await self._recognised(request), need)
        except _Unknown as unknown:
            raise Refused("not_authenticated", str(unknown)) from None

    async def _recognised(self, request: Request) -> Principal:
        if not await self.closed(token_sent=_sends_token(request)):
            _check_local(request)
            return LOCAL
        cookie = session_cookie(request)
        if cookie is not None and not _sends_token(request):
            return await self._logged_in(cookie)
        text = _bearer(request)
        # A header's bytes are read as Latin-1.
        if self._cron_secret is not None and hmac.compare_digest(text.encode("latin-1", "replace"), self._cron_secret):
            return CRON
        return (await self._identified(text)).principal

    async def log_in(self, request: Request, text: str) -> NewLogin:
        """Return a login for the owner of a token; raises `Refused` if the token is invalid or may not look."""
        try:
            found = await self._identified(text)
        except _Unknown as unknown:
            raise self._failed(request, str(unknown)) from None
        who = _allowed(found.principal, Need.READ)
        made = await create_login(self._store, who.user, who.scope, token=found.token, until=found.until)
        _log.info("logged_in", user=who.user, address=address_of(request))
        return made

    async def log_out(self, request: Request) -> None:
        cookie = session_cookie(request)
        if cookie is not None:
            await end_login(self._store, cookie)
            self._logins.forget(cookie)

    async def _logged_in(self, cookie: str) -> Principal:
        """Return the principal of a login. A failure is not counted: a page that is left open asks again and again."""
        found = await self._logins.find(cookie, _KNOWN_FOR_SECONDS)
        if found is None:
            raise Refused("not_authenticated", "the login has ended; log in again", _CHALLENGE)
        return Principal(found.user_name, found.scope)

    async def _identified(self, text: str) -> _Identity:
        if self._issuer is not None and self._issuer.may_have_made(text):
            try:
                owner = self._issuer.who(text)
                return _Identity(Principal(owner.user, owner.scope), None, owner.until * _MICROSECONDS)
            except InvalidJwt as error:
                raise _Unknown(str(error)) from error
        found = find_token(await self._known(), text[:_TOKEN_BYTES])
        if found is None:
            # It may have been created since the last read. One read at a time is under way, however many ask.
            await self._reading.get()
            found = find_token(self._tokens, text[:_TOKEN_BYTES])
        if found is None:
            raise _Unknown("the token is unknown or was revoked")
        await self._note_use(found)
        return _Identity(Principal(found.user_name, found.scope), found.id, None)

    async def _known(self) -> dict[str, TokenRecord]:
        if self._clock.monotonic() - self._read_at > _KNOWN_FOR_SECONDS:
            await self._reading.get()
        return self._tokens

    async def _read_tokens(self) -> None:
        read_at = self._clock.monotonic()
        self._tokens = await all_tokens(self._store)
        self._read_at = read_at

    def _failed(self, request: Request, why: str) -> Refused:
        address = address_of(request)
        _log.warning("token_refused", address=address, why=why)
        wait = self._failures.note(address)
        if wait:
            return Refused(
                "too_many_failures",
                "wait as long as Retry-After says, then send a valid token",
                {"Retry-After": str(math.ceil(wait)), **_INVALID},
            )
        return Refused("not_authenticated", why, _INVALID)

    async def _note_use(self, token: TokenRecord) -> None:
        """Record the last use, at most once per interval: not every request is worth a write."""
        now = self._clock.monotonic()
        if now - self._noted.get(token.id, -math.inf) > _USE_NOTED_EVERY:
            self._noted[token.id] = now
            with contextlib.suppress(DatabaseUnavailable):
                await note_use(self._store, token.id)


class _Identity(NamedTuple):
    """The owner of a valid token: the number of a token of ours, or when a JWT expires, in microseconds."""

    principal: Principal
    token: int | None
    until: int | None


class _Unknown(Exception):
    """An invalid token; the message says why."""


def cookie_name(request: Request) -> str:
    """Cookies are not separated by port: two servers on one host would log each other's users out."""
    try:
        port = urlsplit(f"//{request.headers.get('host', '')}").port
    except ValueError:
        port = None
    return _COOKIE if port is None else f"{_COOKIE}_{port}"


def session_cookie(request: Request) -> str | None:
    """Return the secret of a login, if the request has one."""
    name = cookie_name(request)
    # Not by the standard library, which decodes quoted values, in some versions in the square of their length:
    # a long one would stop the server. Our own are never quoted. The last one counts, as usual.
    for part in reversed("; ".join(request.headers.getlist("cookie")).split(";")):
        given, _, text = part.partition("=")
        if given.strip() == name:
            text = text.strip()
            return text if text and len(text) <= _TOKEN_BYTES else None
    return None


def _sends_token(request: Request) -> bool:
    return "authorization" in request.headers or (isinstance(request, Handshake) and BEARER in request.offered)


def _bearer(request: Request) -> str:
    """Return the token. Browsers cannot set headers of a WebSocket, so there it may be the second subprotocol."""
    headers = request.headers.getlist("authorization")
    scheme, _, text = headers[0].partition(" ") if len(headers) == 1 else ("", "", "")
    if not headers and isinstance(request, Handshake) and len(request.offered) == 2:
        scheme, text = request.offered
    text = text.strip()
    if scheme.lower() != BEARER or not text:
        raise Refused(
            "not_authenticated", "send `Authorization: Bearer TOKEN`; `hanbeon token create` creates one", _CHALLENGE
        )
    return text


def _allowed(who: Principal, need: Need) -> Principal:
    if who.scope in ALLOWED[need]:
        return who
    allowed = ", ".join(scope for scope in Scope if scope in ALLOWED[need])
    raise Refused(
        "not_allowed",
        f"the token's scope is {who.scope}; this operation needs one of {allowed}",
        {"WWW-Authenticate": 'Bearer realm="hanbeon", error="insufficient_scope"'},
    )


def address_of(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def is_loopback(host: str) -> bool:
    """Return true for an address or a name of the loopback interface."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _check_local(request: Request) -> None:
    """Check the address and the Host header: by DNS rebinding, a foreign page's own name may point to this machine.

    A proxy on this machine has a local address, too, and would make everyone whom it serves an admin. Most of them add
    a header that tells so.
    """
    via = next((name for name in request.headers if name in _OF_PROXIES or name.startswith(_FORWARDED)), None)
    if via is not None:
        raise Refused(
            "proxied",
            f"the header {quoted(via)} tells of a proxy, which makes every client look local; "
            "create a token: `hanbeon token create --user NAME --scope admin`, or set jwt_issuer",
        )
    if is_loopback(address_of(request)) and is_loopback(_host(f"//{request.headers.get('host', '')}")):
        return
    raise Refused(
        "foreign_host",
        "use http://127.0.0.1 or http://localhost; for access from elsewhere, create a token: `hanbeon token create`",
    )


def _check_origin(request: Request) -> None:
    """Reject cross-origin requests: the only pages that may send any are those that this server serves."""
    origin = request.headers.get("origin")
    if origin is None:
        return
    _, _, place = origin.partition("://")
    if not place or place.lower() != request.headers.get("host", "").lower():
        raise Refused("foreign_origin", f"the request comes from a page of {quoted(origin)}, which is not this server")


def _check_site(request: Request) -> None:
    """Reject a GET that a browser sends for a page of another site, or for a link in it: images have no Origin."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        raise Refused("foreign_origin", f"a browser sends this request for another site ({quoted(site)})")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
