"""Around every request: an id, a line in the log, a count, and an answer even if there is a defect."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import structlog
import uuid_utils
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hanbeon.logs import get_logger
from hanbeon.server.problems import Refused

_log = get_logger("hanbeon.server")
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_HEADER = b"x-request-id"
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
]
_GONE = 499

Counted = Callable[[str, str, int, float], None]
"""Told of each request: method, route, status, seconds."""


class Entrance:
    """The outermost layer. Nothing that goes wrong inside gets past it."""

    def __init__(self, inner: ASGIApp, count: Counted) -> None:
        self._inner, self._count = inner, count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        told = next((value for name, value in scope["headers"] if name == _HEADER), b"")
        request_id = told if _ID.fullmatch(told) else str(uuid_utils.uuid7()).encode()
        began, status = time.monotonic(), 0
        # A probe that asks for the head alone gets that of the same answer; the body is left out below us.
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else {**scope}

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name.lower() for name, _ in message["headers"]}
                added = [each for each in _HEADERS if each[0] not in own]
                message = {**message, "headers": [*message["headers"], (_HEADER, request_id), *added]}
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id.decode()):
            try:
                await self._inner(inner, receive, sending)
            except ClientDisconnect:
                status = status or _GONE
            except Exception:
                _log.exception("request_broke", method=scope["method"], path=scope["path"])
                if not status:
                    await Refused("defect", "it is not your request's fault").response()(scope, receive, sending)
            finally:
                self._tell(inner, scope["method"], status or _GONE, time.monotonic() - began)

    def _tell(self, scope: Scope, method: str, status: int, took: float) -> None:
        route: Any = scope.get("route")
        path = getattr(route, "path", "unknown")
        self._count(method, path, status, took)
        client = scope.get("client")
        quiet = scope.get("state", {}).get("quiet") and status < 400
        tell = _log.debug if quiet else _log.info
        tell(
            "request",
            method=method,
            path=scope["path"][:500],
            status=status,
            took=round(took, 6),
            user=scope.get("state", {}).get("user"),
            address=client[0] if client else None,
        )
