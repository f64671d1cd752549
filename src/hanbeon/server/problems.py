"""Errors as RFC 9457 has them: which status each has is said here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import structlog
from starlette.responses import Response

from hanbeon.errors import HanbeonError, Kind

MEDIA_TYPE = "application/problem+json"
STATUS: Mapping[Kind, int] = {
    Kind.INVALID: 422,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.UNAVAILABLE: 503,
    Kind.FAILED: 500,
}
STATUS_OF_CODE: Mapping[str, int] = {"changed": 412}
"""Where HTTP has a status of its own for what is only one of its kind elsewhere."""
_FIELDS = ("ids", "job_id", "office_id", "state", "key")
_RETRY_SECONDS = "1"


CLOSE_OF_STATUS: Mapping[int, int] = {500: 1011, 503: 1013}
"""Where WebSockets have a code of their own; all others are 4000 and the status that HTTP has."""
_CLOSE = 4_000


class Refusal(NamedTuple):
    """What only HTTP can refuse."""

    status: int
    title: str


REFUSALS: Mapping[str, Refusal] = {
    "not_authenticated": Refusal(401, "A token is needed, and this is none that is valid."),
    "not_allowed": Refusal(403, "The token's scope does not allow this."),
    "foreign_host": Refusal(403, "Without tokens only this machine is served, under its own names."),
    "foreign_origin": Refusal(403, "Pages of other sites may not ask for changes."),
    "no_such_path": Refusal(404, "There is nothing at this path."),
    "wrong_method": Refusal(405, "This path is there, but not with this method."),
    "still_under_way": Refusal(409, "The first request with this Idempotency-Key is not answered yet."),
    "not_a_websocket": Refusal(426, "This path is one of WebSockets, and this is a plain request."),
    "request_too_large": Refusal(413, "The body of the request exceeds the size limit."),
    "not_json": Refusal(422, "The body is not JSON."),
    "key_already_used": Refusal(422, "The Idempotency-Key came with another request before."),
    "too_many_failures": Refusal(429, "Too many invalid tokens came from this address."),
    "defect": Refusal(500, "A defect in Hanbeon; the server's log says more under this request's id."),
}


class Refused(Exception):
    """A request that is rejected for a reason that only HTTP knows."""

    def __init__(self, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.code, self.detail, self.headers = code, detail, dict(headers or {})

    @property
    def status(self) -> int:
        return REFUSALS[self.code].status

    def response(self) -> Response:
        status, title = REFUSALS[self.code]
        return _response(status, self.code, title, self.detail, None, {}, self.headers)


def internal_error() -> Refused:
    """The answer to a defect; the request id is in the response's header and in the log."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    return Refused("defect", f"internal error; see the server log for request id {request_id}")


def status_of(error: type[HanbeonError]) -> int:
    return STATUS_OF_CODE.get(error.code, STATUS[error.kind])


def title_of(error: type[HanbeonError]) -> str:
    return (error.__doc__ or "").splitlines()[0].rstrip(";")


def close_code(error: HanbeonError | Refused | None) -> int:
    """With what a WebSocket is closed that must end; None is a defect."""
    if error is None:
        return CLOSE_OF_STATUS[500]
    status = error.status if isinstance(error, Refused) else status_of(type(error))
    return CLOSE_OF_STATUS.get(status, _CLOSE + status)


def problem_of(error: HanbeonError) -> Response:
    """The answer to a request that Hanbeon refuses."""
    status, title = status_of(type(error)), title_of(type(error))
    more = {name: value for name in _FIELDS if (value := getattr(error, name, None)) is not None}
    headers = {"Retry-After": _RETRY_SECONDS} if status == STATUS[Kind.UNAVAILABLE] else {}
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
