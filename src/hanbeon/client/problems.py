"""What a client raises.

ClientError
├── Problem             the server refused: `status`, `code`, `detail`, `field`, `request_id`; one class for each status
├── Unreachable         no answer came, however often it was tried
├── UnexpectedAnswer    somebody answered, but not Hanbeon, or not in a way that this release understands
└── StillUnfinished     the job did not end within the time of a wait
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.client.flow import Response

_MEDIA_TYPE = "application/problem+json"
_SHOWN = 200


class ClientError(Exception):
    """Something that a client could not do."""


class Unreachable(ClientError):
    """No answer came from the server."""


class UnexpectedAnswer(ClientError):
    """The answer is none of Hanbeon's; is the address right, or is there something between?"""


class StillUnfinished(ClientError):
    """The job did not end within the time that the caller was ready to wait; it goes on."""


class Problem(ClientError):
    """The server refused. `more` has what else it said: the `ids` of a cycle, for example."""

    def __init__(self, status: int, said: Mapping[str, Any], request_id: str | None) -> None:
        self.status = status
        self.code = str(said.get("code", ""))
        self.title = str(said.get("title", ""))
        self.detail = str(said.get("detail", ""))
        self.field: str | None = said.get("field")
        self.request_id = request_id
        known = {"type", "status", "code", "title", "detail", "field"}
        self.more = {name: value for name, value in said.items() if name not in known}
        super().__init__(f"{self.detail} ({self.code}, {status})")


class NotAuthenticated(Problem):
    """401: a token is needed, and this is none that is valid."""


class NotAllowed(Problem):
    """403: the token's scope does not allow it."""


class NotFound(Problem):
    """404: there is no such thing."""


class Conflict(Problem):
    """409: the state of the thing forbids it."""


class Changed(Problem):
    """412: the thing has changed since the version that was named; read it again."""


class TooLarge(Problem):
    """413: the request exceeds the server's limit."""


class Invalid(Problem):
    """422: what was sent does not fit; `field` says where."""


class TooMany(Problem):
    """429: too many invalid tokens came from here."""


class ServerDefect(Problem):
    """500: a defect; the server's log says more under `request_id`."""


class ServerUnavailable(Problem):
    """503: the server's database cannot be used now."""


_OF_STATUS: Mapping[int, type[Problem]] = {
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: Changed,
    413: TooLarge,
    422: Invalid,
    429: TooMany,
    500: ServerDefect,
    503: ServerUnavailable,
}


def problem_in(answer: Response) -> Problem | None:
    """What the answer refuses, if it is a problem."""
    if not answer.headers.get("content-type", "").startswith(_MEDIA_TYPE):
        return None
    try:
        said = msgspec.json.decode(answer.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return _OF_STATUS.get(answer.status, Problem)(answer.status, said, answer.headers.get("x-request-id"))


def unexpected(answer: Response) -> UnexpectedAnswer:
    start = answer.body[:_SHOWN].decode(errors="replace")
    return UnexpectedAnswer(f"status {answer.status} with {start!r}; is this the address of a Hanbeon server?")
