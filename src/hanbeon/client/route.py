"""Requests and results of an operation: the values of one call, as they are sent, and what comes back."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from hanbeon.client.flow import Request, Response
from hanbeon.client.problems import problem_in, unexpected
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.operation import Operation

KEY = "Idempotency-Key"


class Fill(NamedTuple):
    """The values of one call. None in `query` is omitted; so is UNSET in `body`."""

    ids: Mapping[str, Any] = {}
    query: Mapping[str, Any] = {}
    body: Mapping[str, Any] | None = None
    expected: int | None = None
    key: str | None = None
    timeout: float | None = None
    """Of a wait."""
    file: str | None = None
    """The file to upload, or to download to."""


def request_of(method: str, path: str, fill: Fill) -> Request:
    headers: dict[str, str] = {}
    body = None
    if fill.body is not None:
        given = {name: sent(value) for name, value in fill.body.items() if value is not msgspec.UNSET}
        body = to_json_text(given, "the request", "body").encode()
        headers["Content-Type"] = "application/json"
    if fill.expected is not None:
        headers["If-Match"] = f'"{fill.expected}"'
    if fill.key is not None:
        headers[KEY] = fill.key
    ids = {name: _in_path(name, value) for name, value in fill.ids.items()}
    transfer = {} if fill.file is None else {"save" if method == "GET" else "upload": fill.file}
    return Request(method, path.format_map(ids), _query(fill.query), headers, body, **transfer)


def result_of(operation: Operation, answer: Response, part: str | None) -> Any:
    """Return the result of a response, or this part of it, or raise its error. Fields of a newer server are ignored."""
    check(answer)
    kind = next(iter(operation.responses.values()))
    if kind is None:
        return None
    body = decoded(kind, answer)
    if operation.result is not None:
        # The response is a part of the result; the rest is in its status and headers.
        rest: dict[str, Any] = {}
        if operation.accepted is not None:
            rest[operation.accepted] = answer.status == 202
        if operation.versioned:
            rest["version"] = _version(answer)
        return operation.result(**{operation.part or "": body}, **rest)
    return body if part is None else getattr(body, part)


def check(answer: Response) -> None:
    """Raise the error of a response that is not 2xx."""
    if not 200 <= answer.status < 300:
        raise problem_in(answer) or unexpected(answer)


def decoded(kind: Any, answer: Response) -> Any:
    try:
        return _decoder(kind).decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise unexpected(answer) from error


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _version(answer: Response) -> int:
    tag = answer.headers.get("etag", "").removeprefix("W/").strip('"')
    return int(tag) if tag.isdecimal() else 0


def sent(value: Any) -> Any:
    """Structs without the fields that have their default: an older server rejects fields that it does not know."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        given = {field.encode_name: (field.default, getattr(value, field.name)) for field in fields}
        return {name: sent(own) for name, (default, own) in given.items() if own is not default}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return [sent(each) for each in value]
    return value


def _in_path(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else str(getattr(value, "id", value))
    if not text.strip("."):
        raise InvalidInput(
            Rule("must_be", what=Rule("id"), got=repr(text)), field=name
        )  # It would lead to another path.
    return quote(text, safe="")


def _query(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for name, value in given.items():
        if value is not None and value is not msgspec.UNSET:
            many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
            pairs += [(name, _text(each)) for each in many]
    return tuple(pairs)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
