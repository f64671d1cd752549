"""Errors as problem details (RFC 9457): the only place that maps errors to statuses."""

from __future__ import annotations

import http
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import structlog
from starlette.responses import Response

from hanbeon.errors import HanbeonError, Kind
from hanbeon.quotation import TEXT_CHARACTERS, plain
from hanbeon.surfaces.registry import SURFACES

MEDIA_TYPE = "application/problem+json"
STATUS: Mapping[Kind, int] = {
    Kind.INVALID: 422,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.UNAVAILABLE: 503,
    Kind.FAILED: 500,
}
STATUS_OF_CODE: Mapping[str, int] = {
    "changed": 412,
    **dict(each for surface in SURFACES for each in surface.statuses),
}
"""Statuses of single error codes that differ from the status of their kind."""
_RETRY_SECONDS = "1"


CLOSE_OF_STATUS: Mapping[int, int] = {500: 1011, 503: 1013}
"""Close codes that WebSockets define; all others are 4000 plus the HTTP status."""
_CLOSE = 4_000


class Refusal(NamedTuple):
    """A rejection that exists only over HTTP."""

    status: int
    title: str


REFUSALS: Mapping[str, Refusal] = {
    "not_authenticated": Refusal(401, "Authentication required."),
    "not_allowed": Refusal(403, "Insufficient scope."),
    "foreign_host": Refusal(403, "Without a token, only requests to localhost are accepted."),
    "proxied": Refusal(403, "Without a token, requests through a proxy are rejected."),
    "foreign_origin": Refusal(403, "Cross-origin request rejected."),
    "no_such_path": Refusal(404, "Path not found."),
    "wrong_method": Refusal(405, "Method not allowed."),
    "still_under_way": Refusal(409, "The first request with this Idempotency-Key is still in progress."),
    "not_a_websocket": Refusal(426, "WebSocket handshake required."),
    "request_too_large": Refusal(413, "Request body too large."),
    "not_json": Refusal(422, "The request body is not valid JSON."),
    "key_already_used": Refusal(422, "The Idempotency-Key was used for a different request."),
    "too_many_failures": Refusal(429, "Too many invalid tokens from this address."),
    "too_many_connections": Refusal(503, "Too many open connections."),
    "defect": Refusal(500, "Internal error; see the server log for the request id."),
}


class Refused(Exception):
    """A request rejected for a reason that exists only over HTTP."""

    def __init__(self, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        self.code, self.detail, self.headers = code, plain(detail, TEXT_CHARACTERS), dict(headers or {})
        super().__init__(self.detail)

    @property
    def status(self) -> int:
        return REFUSALS[self.code].status

    def response(self) -> Response:
        status, title = REFUSALS[self.code]
        return _response(status, self.code, title, self.detail, None, {}, self.headers)


def internal_error() -> Refused:
    """The response to an unexpected error; the request id is in its header and in the log."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    return Refused("defect", f"internal error; see the server log for request id {request_id}")


def too_many_connections() -> Refused:
    return Refused(
        "too_many_connections",
        "the server, or your address, has as many open connections as it may; close some, or try again later",
        {"Retry-After": _RETRY_SECONDS, "Connection": "close"},
    )


def response_bytes(refused: Refused) -> bytes:
    """Return a response as it is sent, for connections on which no request is read."""
    response = refused.response()
    lines = [b"%s: %s" % header for header in response.raw_headers]
    status = f"HTTP/1.1 {response.status_code} {http.HTTPStatus(response.status_code).phrase}".encode()
    return b"\r\n".join([status, *lines, b"", bytes(response.body)])


def status_of(error: type[HanbeonError]) -> int:
    return STATUS_OF_CODE.get(error.code, STATUS[error.kind])


def title_of(error: type[HanbeonError]) -> str:
    return (error.__doc__ or "").splitlines()[0].rstrip(";")


def close_code(error: HanbeonError | Refused | None) -> int:
    """Return the close code of a WebSocket for an error; None is an internal error."""
    if error is None:
        return CLOSE_OF_STATUS[500]
    status = error.status if isinstance(error, Refused) else status_of(type(error))
    return CLOSE_OF_STATUS.get(status, _CLOSE + status)


def problem_of(error: HanbeonError) -> Response:
    """Return the response to a request that raised an error of Hanbeon."""
    status, title = status_of(type(error)), title_of(type(error))
    more = {name: value for name in error.members if (value := getattr(error, name, None)) is not None}
    headers = {"Retry-After": _RETRY_SECONDS} if status == STATUS[Kind.UNAVAILABLE] else {}
    if error.rule is not None:
        more["rule"] = error.rule.serialize()
    return _response(status, error.code, title, str(error), error.field, more, headers)


def _response(
    status: int,
    code: str,
    title: str,
    detail: str,
    field: str | None,
    more: Mapping[str, Any],
    headers: Mapping[str, str],
) -> Response:
    body = {
        "type": f"urn:hanbeon:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "field": field,
        **more,
    }
    return Response(msgspec.json.encode(body), status, headers, media_type=MEDIA_TYPE)
