"""An authenticated request, read within limits: path, query or body as a struct, If-Match, derived ids."""

from __future__ import annotations

import asyncio
import hashlib
import re
import uuid
from functools import cache
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

import msgspec
from starlette.requests import Request
from starlette.types import Scope as AsgiScope

from hanbeon.domain.access import Scope
from hanbeon.domain.json_text import BoundsCheck
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.server.problems import Refused
from hanbeon.surfaces import schema
from hanbeon.surfaces.validation import bare, convert, decode

T = TypeVar("T")
BEARER = "bearer"
_BODY = "body"
"""The field of errors that concern a body as a whole."""
_IN_THREAD = 1_000_000
"""Larger bodies are decoded beside the event loop, which also renews leases."""
_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?", re.ASCII)
_BOOLEANS = {"true": True, "false": False}
_VERSION = re.compile(r'(?:W/)?"([0-9]{1,18})"', re.ASCII)


class Handshake(Request):
    """The request that opens a WebSocket. A browser cannot set its headers, except for the subprotocols."""

    def __init__(self, scope: AsgiScope) -> None:
        super().__init__({**scope, "type": "http", "method": "GET"})
        self.offered: list[str] = scope.get("subprotocols", [])

    @property
    def subprotocol(self) -> str | None:
        """The subprotocol of the response: a client that offers some expects one of them."""
        return BEARER if BEARER in self.offered else None


class Principal(NamedTuple):
    """An authenticated user."""

    user: str
    scope: Scope


class NoFields(schema.Request, frozen=True, kw_only=True):
    """The request of an operation that takes none."""


class ApiRequest:
    """A request of a principal; `max_bytes` limits its body."""

    def __init__(self, http: Request, principal: Principal, max_bytes: int = 0) -> None:
        self.http, self.principal = http, principal
        self._max_bytes = max_bytes
        self._body: bytes | None = None
        self.body_digest: bytes | None = None
        """The digest that stands for a body which was read elsewhere, as that of an upload."""
        self.seed: str | None = None
        """The seed of derived ids, if the request may be repeated."""

    def new_id(self, number: int = 0) -> str:
        """The id of the nth resource that the request creates; a repeated request gets the same ids."""
        assert self.seed is not None, "the request has no Idempotency-Key"
        # With the time of the first request, so that ids stay in creation order.
        seed = uuid.UUID(self.seed).bytes
        rest = bytearray(hashlib.blake2b(seed + number.to_bytes(8), digest_size=10).digest())
        rest[0] = rest[0] & 0x0F | 0x70
        rest[2] = rest[2] & 0x3F | 0x80
        return str(uuid.UUID(bytes=seed[:6] + bytes(rest)))

    def parameter(self, name: str) -> str:
        """A parameter of the path, decoded; the middleware has left its escaped slashes alone."""
        return unquote(str(self.http.path_params[name]))

    def query(self, kind: type[T]) -> T:
        """The query parameters as a struct."""
        of_kind: Any = kind
        kinds = _kinds(of_kind)
        # In one pass: to look up each name would cost the square of their number, which the client chooses.
        values: dict[str, list[str]] = {}
        for name, value in self.http.query_params.multi_items():
            values.setdefault(name, []).append(value)
        given = {name: _value(name, each, kinds.get(name, str)) for name, each in values.items()}
        try:
            return convert(kind, given)
        except InvalidInput as error:
            # A query has no arrays: `status=a,b` is one parameter.
            field = (error.field or "").partition("[")[0]
            raise InvalidInput(error.reason, field=field) from None

    async def json(self, kind: type[T], *, optional: bool = False) -> T:
        """The body as a struct; no body is an empty object if it is optional."""
        body = await self.body()
        if not body.strip():
            if not optional:
                raise Refused("not_json", "the body is empty; send a JSON object")
            body = b"{}"
        try:
            if len(body) > _IN_THREAD:
                return await asyncio.to_thread(decode, body, kind)
            return decode(body, kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refused("not_json", f"{error}; send a JSON object in UTF-8") from error

    def expected_version(self) -> int | None:
        """The version of `If-Match`: None for any version; -1, which matches nothing, if it is not one of our ETags."""
        header = self.http.headers.get("if-match")
        if header is None or header.strip() == "*":
            return None
        found = _VERSION.fullmatch(header.strip())
        return int(found[1]) if found else -1

    async def body(self) -> bytes:
        """The raw body, up to the limit."""
        if self._body is None:
            self._body = await self._read()
        return self._body

    async def _read(self) -> bytes:
        length = self.http.headers.get("content-length", "")
        if length.isdecimal() and (len(length) > 18 or int(length) > self._max_bytes):
            raise self._too_large()
        parts, size, depth = [], 0, BoundsCheck(_BODY)
        async for part in self.http.stream():
            size += len(part)
            if size > self._max_bytes:
                raise self._too_large()
            depth.feed(part)
            parts.append(part)
        return b"".join(parts)

    def _too_large(self) -> Refused:
        return Refused(
            "request_too_large",
            f"send at most {self._max_bytes:,} bytes per request; the server's setting is `max_request_bytes`",
            # The rest of the body is not read.
            {"Connection": "close"},
        )


@cache
def _kinds(kind: Any) -> dict[str, type]:
    """How each query parameter is read before it is validated: as an integer, a number, a boolean, a list or text."""
    fields = msgspec.inspect.type_info(kind).fields  # type: ignore[attr-defined]  # of a struct
    return {field.encode_name: _kind(field.type) for field in fields}


def _kind(info: msgspec.inspect.Type) -> type:
    info = bare(info)
    if isinstance(info, msgspec.inspect.UnionType):
        return next((kind for each in info.types if (kind := _kind(each)) is not str), str)
    match info:
        case msgspec.inspect.IntType():
            return int
        case msgspec.inspect.FloatType():
            return float
        case msgspec.inspect.BoolType():
            return bool
        case msgspec.inspect.ListType():
            return list
        case _:
            return str


def _value(name: str, values: list[str], kind: type) -> Any:
    if kind is list:
        return [word for each in values for word in each.split(",") if word]
    if len(values) > 1:
        raise InvalidInput(Rule("given_twice"), field=name[:80])
    (word,) = values
    if kind is int and _INTEGER.fullmatch(word):
        return int(word)
    if kind is float and _NUMBER.fullmatch(word):
        return float(word)
    return _BOOLEANS.get(word, word) if kind is bool else word
