"""Routes: operations of a server as data, and the values that fill them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec

from hanbeon.client.flow import Request, Response
from hanbeon.client.problems import problem_in, unexpected
from hanbeon.errors import InvalidInput

T = TypeVar("T")
KEY = "Idempotency-Key"


class Route(NamedTuple, Generic[T]):
    """One operation; `read` decodes the result of a 2xx response."""

    method: str
    path: str
    read: Callable[[Response], T]
    creates: bool = False
    """It creates something, once for each Idempotency-Key."""
    harmless: bool = False
    """It is idempotent, so it may be retried if no response came."""

    @property
    def repeatable(self) -> bool:
        return self.creates or self.harmless or self.method == "GET"


class Fill(NamedTuple):
    """The values of one call. None in `query` is omitted; so is UNSET in `body`."""

    ids: Mapping[str, str] = {}
    query: Mapping[str, Any] = {}
    body: Mapping[str, Any] | None = None
    expected: int | None = None
    key: str | None = None


def shape(kind: type[T]) -> Callable[[Response], T]:
    """Return a decoder of this type. Fields that a newer server adds are ignored."""
    decoder = msgspec.json.Decoder(kind)

    def read(answer: Response) -> T:
        try:
            return decoder.decode(answer.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise unexpected(answer) from error

    return read


def nothing(answer: Response) -> None:
    """Decode no result."""


def request_of(route: Route[Any], ids: Mapping[str, str], fill: Fill) -> Request:
    headers: dict[str, str] = {}
    body = None
    if fill.body is not None:
        given = {name: value for name, value in fill.body.items() if value is not msgspec.UNSET}
        body = msgspec.json.encode(given)
        headers["Content-Type"] = "application/json"
    if fill.expected is not None:
        headers["If-Match"] = f'"{fill.expected}"'
    if fill.key is not None:
        headers[KEY] = fill.key
    named = {name: _in_path(name, value) for name, value in {**ids, **fill.ids}.items()}
    return Request(route.method, route.path.format_map(named), _query(fill.query), headers, body)


def result_of(route: Route[T], answer: Response) -> T:
    """Return the result of a response, or raise its error."""
    if 200 <= answer.status < 300:
        return route.read(answer)
    raise problem_in(answer) or unexpected(answer)


def _in_path(name: str, value: str) -> str:
    if not str(value).strip("."):
        raise InvalidInput(f"must be an id, got {value!r}", field=name)  # It would lead to another path.
    return quote(value, safe="")


def _query(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for name, value in given.items():
        if value is not None:
            many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
            pairs += [(name, _text(each)) for each in many]
    return tuple(pairs)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
