"""Log in and out of the dashboard: a cookie that stands for a token, which no script of a page can read."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hanbeon.clock import iso
from hanbeon.domain.access import Need, Scope
from hanbeon.server.auth import LOCAL, cookie_name, session_cookie
from hanbeon.server.context import ServerContext
from hanbeon.store.operations.access import LOGIN_US
from hanbeon.surfaces import schema
from hanbeon.surfaces.operation import Operation

_PATH = "/api/session"


class LogIn(schema.PostBody, frozen=True, kw_only=True):
    """A token of `hanbeon token create`, or a JWT."""

    token: str


class Session(schema.Result, frozen=True, kw_only=True):
    """The user of a request; `login` is true with a cookie. `expires_at` is known when a login begins.

    `timezone`: the name of the installation's time zone.
    """

    user: str
    scope: Scope
    login: bool
    timezone: str
    expires_at: str | None = None


OPERATIONS = (
    Operation(
        *("GET", _PATH, Need.READ, "session", "Return who is logged in."),
        responses={200: Session},
        http=True,
        quiet=True,
    ),
    Operation(
        *("POST", _PATH, Need.NOTHING, "log_in", "Log in with a token: sets a cookie for twelve hours."),
        request=LogIn,
        responses={200: Session},
        http=True,
    ),
    Operation(
        *("DELETE", _PATH, Need.NOTHING, "log_out", "Log out: the cookie is worth nothing any more."),
        responses={204: None},
        http=True,
        idempotent=True,
    ),
)


class Sessions:
    """Responses to the operations above."""

    def __init__(self, context: ServerContext) -> None:
        self._authenticator, self._zone = context.authenticator, context.app.settings.zone

    async def session(self, http: Request) -> Session:
        who = await self._authenticator.admit(http, Need.READ)
        return Session(user=who.user, scope=who.scope, login=session_cookie(http) is not None, timezone=self._zone.key)

    async def log_in(self, token: str, http: Request) -> Session | Response:
        if not await self._authenticator.closed(token_sent=True):
            await self._authenticator.admit(http, Need.READ)
            return Session(user=LOCAL.user, scope=LOCAL.scope, login=False, timezone=self._zone.key)
        made = await self._authenticator.log_in(http, token)
        expires_at = iso(made.record.expires_at, self._zone)
        user, scope = made.record.user_name, made.record.scope
        body = Session(user=user, scope=scope, login=True, timezone=self._zone.key, expires_at=expires_at)
        response = Response(msgspec.json.encode(body), media_type="application/json")
        _set_cookie(response, http, made.text, LOGIN_US // 1_000_000)
        return response

    async def log_out(self, http: Request) -> Response:
        await self._authenticator.log_out(http)
        response = Response(status_code=204)
        _set_cookie(response, http, "", 0)
        return response


def _set_cookie(response: Response, http: Request, text: str, seconds: int) -> None:
    response.set_cookie(
        cookie_name(http), text, max_age=seconds, path="/", secure=_is_tls(http), httponly=True, samesite="strict"
    )


def _is_tls(http: Request) -> bool:
    """True if the browser uses TLS, also up to a proxy. A false claim makes the cookie stricter, never looser."""
    origin = http.headers.get("origin", "")
    return http.url.scheme == "https" or origin.startswith("https:") or http.headers.get("x-forwarded-proto") == "https"
