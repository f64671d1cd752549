"""With which statuses a request may be refused, by its form: for the description of the API, which lists them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hanbeon.domain.access import Need
from hanbeon.errors import Changed, HanbeonError, InvalidInput, Kind, NotFound, Unavailable
from hanbeon.server.operation import Operation
from hanbeon.server.problems import REFUSALS, status_of, title_of

_ADMITTED = ("not_authenticated", "not_allowed", "foreign_host", "too_many_failures")
_CHANGES = ("foreign_origin",)
_BODY = ("request_too_large", "not_json")
_REPEATED = ("still_under_way", "key_already_used", "request_too_large")


def refusals_of(operation: Operation) -> Mapping[int, Mapping[str, str]]:
    """By status: the codes, and what they mean."""
    found: dict[int, dict[str, str]] = {}
    for code in sorted({"defect", *_codes(operation)}):
        status, title = REFUSALS[code]
        found.setdefault(status, {})[code] = title
    for error in _errors(operation):
        found.setdefault(status_of(error), {})[error.code] = title_of(error)
    return dict(sorted(found.items()))


def _codes(operation: Operation) -> Iterator[str]:
    if operation.need is not Need.NOTHING:
        yield from _ADMITTED
        if operation.method != "GET":
            yield from _CHANGES
    if operation.body is not None:
        yield from _BODY
    if operation.creates:
        yield from _REPEATED


def _errors(operation: Operation) -> Iterator[type[HanbeonError]]:
    yield InvalidInput  # At least for a parameter that it does not know.
    yield from operation.refuses
    if operation.tagged and operation.method != "GET" and not operation.creates:
        yield Changed
    if "{" in operation.path and not any(error.kind is Kind.NOT_FOUND for error in operation.refuses):
        yield NotFound
    if operation.need is not Need.NOTHING:
        yield Unavailable  # Who may ask is in the database.
