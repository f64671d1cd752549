"""Request middleware: request ids, access log, metrics, and a 500 response to every unexpected error."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hanbeon.ids import new_id
from hanbeon.logs import get_logger
from hanbeon.server.problems import close_code, internal_error

if TYPE_CHECKING:
    from hanbeon.telemetry.tracer import Tracer

_log = get_logger("hanbeon.server")
_requests_log = get_logger("hanbeon.server.requests")
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_HEADER = b"x-request-id"
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
]
HEAD_ONLY = "hanbeon.head_only"
"""Set in the scope of a HEAD request, for responses whose body never ends."""
_WITHIN_A_SEGMENT = re.compile(r"%(?=25|2[Ff])|%(?![0-9A-Fa-f]{2})")
_GONE = 499
_SWITCHED = 101
_STARTS = ("http.response.start", "websocket.http.response.start", "websocket.accept")

CountRequest = Callable[[str, str, int, float | None], None]
"""Called for each request: method, route, status, and seconds unless the client decided the duration."""


class RequestMiddleware:
    """The outermost layer of requests and WebSockets. No exception from inside gets past it."""

    def __init__(
        self,
        requests: ASGIApp,
        websockets: ASGIApp,
        count: CountRequest,
        tracer: Tracer | None = None,
        quiet: Collection[str] = (),
    ) -> None:
        """`quiet`: paths that machines poll, which are not traced."""
        self._inner = {"http": requests, "websocket": websockets}
        self._count, self._tracer, self._quiet = count, tracer, quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in self._inner:
            return
        visit = _Exchange(scope, receive, send)
        if self._tracer is None or scope["type"] != "http" or scope["path"] in self._quiet:
            await self._serve(visit)
            return
        with self._tracer.request(visit.method, scope["headers"]) as span:
            await self._serve(visit)
            route = getattr(visit.scope.get("route"), "path", "unknown")
            self._tracer.answered(span, visit.method, route, visit.status or _GONE)

    async def _serve(self, visit: _Exchange) -> None:
        scope = visit.scope
        with structlog.contextvars.bound_contextvars(request_id=visit.id.decode()):
            try:
                await self._inner[scope["type"]](scope, visit.receive, visit.send)
            except ClientDisconnect:
                pass
            except Exception:
                _log.exception("request_failed", method=visit.method, path=scope["path"])
                await visit.send_500()
            finally:
                self._tell(visit)

    def _tell(self, visit: _Exchange) -> None:
        scope, status = visit.scope, visit.status or _GONE
        route: Any = scope.get("route")
        took = time.monotonic() - visit.began
        self._count(visit.method, getattr(route, "path", "unknown"), status, None if status == _SWITCHED else took)
        client = scope.get("client")
        quiet = scope.get("state", {}).get("quiet") and status < 400
        tell = _requests_log.debug if quiet else _requests_log.info
        tell(
            "request",
            method=visit.method,
            path=scope["path"][:500],
            status=status,
            took=round(took, 6),
            user=scope.get("state", {}).get("user"),
            address=client[0] if client else None,
            **({} if visit.closed is None else {"closed": visit.closed}),
        )


class _Exchange:
    """One request or WebSocket, and its outcome."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = next((value for name, value in scope["headers"] if name == _HEADER), b"")
        self.id = given if _ID.fullmatch(given) else new_id().encode()
        self.began = time.monotonic()
        self.method: str = scope.get("method", "GET")
        self.status = 0
        self.closed: int | None = None
        """The close code of a WebSocket."""
        self.scope = {**scope, "path": _path(scope)}
        if self.method == "HEAD":
            # HEAD gets the headers of the GET response; uvicorn omits the body.
            self.scope["method"] = "GET"
            self.scope[HEAD_ONLY] = True
        self._receive, self._send = receive, send

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "websocket.disconnect" and self.closed is None:
            self.closed = message.get("code")
        return message

    async def send(self, message: Message) -> None:
        kind = message["type"]
        if kind in _STARTS:
            self.status = message.get("status", _SWITCHED)
            own = {name.lower() for name, _ in message["headers"]}
            added = [] if kind == "websocket.accept" else [each for each in _HEADERS if each[0] not in own]
            message = {**message, "headers": [*message["headers"], (_HEADER, self.id), *added]}
        elif kind == "websocket.close":
            self.closed = message["code"]
        try:
            await self._send(message)
        except OSError as error:
            raise ClientDisconnect from error

    async def send_500(self) -> None:
        if not self.status:
            await internal_error().response()(self.scope, self.receive, self.send)
        elif self.status == _SWITCHED:
            with contextlib.suppress(ClientDisconnect):
                await self.send({"type": "websocket.close", "code": close_code(None), "reason": "defect"})


def _path(scope: Scope) -> str:
    """Return the path, decoded except for slashes within a segment, as in a task's name, which stay `%2F`.

    A percent sign stays `%25`, so that each segment can be decoded on its own (see `ApiRequest.path`).
    """
    path: str = scope["path"]
    raw = scope.get("raw_path")
    if raw is None:
        return path.replace("%", "%25")
    return unquote(_WITHIN_A_SEGMENT.sub("%25", raw.decode("ascii"))) if b"%" in raw else path
