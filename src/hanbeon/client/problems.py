"""Errors of a client.

ClientError
├── Problem             rejected by the server: `status`, `code`, `detail`, `field`, `rule`, …; one class per status
├── Unreachable         no response came, despite all retries
├── UnexpectedAnswer    the response is not from Hanbeon, or this release does not understand it
└── StillUnfinished     the job did not end before the timeout of a wait
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hanbeon.client.flow import Response
from hanbeon.errors import HanbeonError, all_errors
from hanbeon.rule import Rule

_MEDIA_TYPE = "application/problem+json"
_SHOWN = 200


class ClientError(Exception):
    """Base of all errors of a client."""


class Unreachable(ClientError):
    """No response came from the server."""


class UnexpectedAnswer(ClientError):
    """The response is not from Hanbeon; check the address, and any proxy in between."""


class StillUnfinished(ClientError):
    """The job did not end before the timeout of the wait; it continues."""


class Problem(ClientError):
    """The server rejected the request. `more` has further members of the problem, such as the `ids` of a cycle."""

    def __init__(self, status: int, said: Mapping[str, Any], request_id: str | None) -> None:
        self.status = status
        self.code = str(said.get("code", ""))
        self.title = str(said.get("title", ""))
        self.detail = str(said.get("detail", ""))
        self.field: str | None = said.get("field")
        rule = said.get("rule")
        self.rule = Rule.parse(rule) if isinstance(rule, Mapping) else None
        self.request_id = request_id
        known = {"type", "status", "code", "title", "detail", "field", "rule"}
        self.more = {name: value for name, value in said.items() if name not in known}
        super().__init__(f"{self.detail} ({self.code}, {status})")


class NotAuthenticated(Problem):
    """401: the token is missing or invalid."""


class NotAllowed(Problem):
    """403: the token's scope does not allow it."""


class NotFound(Problem):
    """404: not found."""


class Conflict(Problem):
    """409: the resource's state does not allow it."""


class Changed(Problem):
    """412: the resource has changed since the expected version; read it again."""


class TooLarge(Problem):
    """413: the request exceeds the server's limit."""


class Invalid(Problem):
    """422: invalid input; `field` names the invalid field."""


class TooMany(Problem):
    """429: too many invalid tokens from this address."""


class ServerDefect(Problem):
    """500: internal error; see the server log for `request_id`."""


class ServerUnavailable(Problem):
    """503: the server's database is unavailable."""


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
    """Return the error that a response describes, if it is a problem."""
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


@contextlib.contextmanager
def raised_as_by_app() -> Iterator[None]:
    """Raise the error of the App instead of a problem; problems that only HTTP has stay what they are."""
    try:
        yield
    except Problem as problem:
        found = error_of(problem)
        if found is None:
            raise
        raise found from problem


def error_of(problem: Problem) -> HanbeonError | None:
    """Return the error with the problem's code, its text and its members; None if no App raises it."""
    kind = _kind_of(problem.code)
    if kind is None:
        return None
    # Not by its constructor, which makes the text from values that a problem need not have.
    error = kind.__new__(kind, problem.detail)
    error.field, error.rule = problem.field, problem.rule
    for name, value in problem.more.items():
        if not hasattr(HanbeonError, name):  # A server must not replace what every exception has.
            setattr(error, name, tuple(value) if isinstance(value, list) else value)
    return error


def _kind_of(code: str) -> type[HanbeonError] | None:
    return next((each for each in all_errors() if each.code == code and "code" in vars(each)), None)
