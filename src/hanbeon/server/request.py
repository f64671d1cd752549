"""What a request says, read with limits: nothing in it can be too large, too deep or of an unknown name unnoticed."""

from __future__ import annotations

import hashlib
import re
import reprlib
import uuid
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin
from urllib.parse import unquote

import msgspec
from starlette.requests import Request
from starlette.types import Scope as AsgiScope

from hanbeon.domain.access import Scope
from hanbeon.errors import InvalidInput
from hanbeon.server.problems import Refused
from hanbeon.tasks.options import check_names

BEARER = "bearer"
_WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_BOOLEANS = {"true": True, "false": False}
_VERSION = re.compile(r'(?:W/)?"([0-9]{1,18})"', re.ASCII)


class Handshake(Request):
    """The request that a WebSocket begins with. A browser can set none of its headers but the subprotocols."""

    def __init__(self, scope: AsgiScope) -> None:
        super().__init__({**scope, "type": "http", "method": "GET"})
        self.offered: list[str] = scope.get("subprotocols", [])

    @property
    def subprotocol(self) -> str | None:
        """What it is answered with: who offers some expects one of them."""
        return BEARER if BEARER in self.offered else None


class Principal(NamedTuple):
    """Who asks."""

    user: str
    scope: Scope


class ApiRequest:
    """One admitted request."""

    def __init__(self, request: Request, who: Principal, query: Mapping[str, type], most: int) -> None:
        self.request, self.who = request, who
        self._most = most
        self._sent: bytes | None = None
        self.seed: str | None = None
        """What ids are to be made from, where the request may come again."""
        self.query = _query(request, query)

    def id_of(self, number: int = 0) -> str | None:
        """The id of the nth thing that the request makes, the same if it comes again; None if it does not."""
        if self.seed is None:
            return None
        # Of the time of the first request, so that ids stay in the order in which things were made.
        seed = uuid.UUID(self.seed).bytes
        rest = bytearray(hashlib.blake2b(seed + number.to_bytes(8), digest_size=10).digest())
        rest[0] = rest[0] & 0x0F | 0x70
        rest[2] = rest[2] & 0x3F | 0x80
        return str(uuid.UUID(bytes=seed[:6] + bytes(rest)))

    def path(self, name: str) -> str:
        """A part of the path, which the entrance has left encoded as far as it must be."""
        return unquote(str(self.request.path_params[name]))

    async def body(self, otherwise: Any = None) -> Any:
        """The JSON that was sent; `otherwise` if nothing was, unless there is no such thing."""
        sent = await self.sent()
        if not sent.strip():
            if otherwise is None:
                raise Refused("not_json", "the body is empty; send a JSON object")
            return otherwise
        try:
            told = msgspec.json.decode(sent)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refused("not_json", f"{error}; send a JSON object in UTF-8") from error
        except RecursionError as error:
            raise Refused("not_json", "it is nested too deeply; send something flatter") from error
        if told is None:
            # To a surface it would be the same as nothing; a client that says it has lost what it wanted to say.
            raise InvalidInput("null does not fit; send an object")
        return told

    def expected_version(self) -> int | None:
        """What `If-Match` says: None if any version will do, -1, which nothing has, for what is no ETag of ours."""
        told = self.request.headers.get("if-match")
        if told is None or told.strip() == "*":
            return None
        found = _VERSION.fullmatch(told.strip())
        return int(found[1]) if found else -1

    async def sent(self) -> bytes:
        """The body as it came, up to the limit."""
        if self._sent is None:
            self._sent = await self._read()
        return self._sent

    async def _read(self) -> bytes:
        told = self.request.headers.get("content-length", "")
        if told.isdecimal() and (len(told) > 18 or int(told) > self._most):
            raise self._too_large()
        parts, size = [], 0
        async for part in self.request.stream():
            size += len(part)
            if size > self._most:
                raise self._too_large()
            parts.append(part)
        return b"".join(parts)

    def _too_large(self) -> Refused:
        return Refused(
            "request_too_large",
            f"send at most {self._most:,} bytes at once; `max_request_bytes` is the server's limit",
            # The rest of the body is not worth reading.
            {"Connection": "close"},
        )


def kinds_of(query: Mapping[str, Any]) -> dict[str, type]:
    """What each parameter is read as."""
    return {name: kind_of(hint) for name, hint in query.items()}


def kind_of(hint: Any) -> type:
    """int, str, bool or list: what a parameter is read as, whatever else its type says."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    kind: type = get_origin(hint) or hint
    return kind


def _query(request: Request, known: Mapping[str, type]) -> dict[str, Any]:
    told = request.query_params
    check_names([name[:80] for name in told], known, "this request")
    return {name: _value(name, told.getlist(name), kind) for name, kind in known.items() if name in told}


def _value(name: str, told: list[str], kind: type) -> Any:
    if kind is list:
        return [word for each in told for word in each.split(",") if word]
    if len(told) > 1:
        raise InvalidInput("it comes twice; say it once", field=name)
    (word,) = told
    if kind is int:
        if not _WHOLE.fullmatch(word):
            raise InvalidInput(f"{reprlib.repr(word)} does not fit; use a whole number", field=name)
        return int(word)
    if kind is bool:
        if word not in _BOOLEANS:
            raise InvalidInput(f"{reprlib.repr(word)} does not fit; use true or false", field=name)
        return _BOOLEANS[word]
    return word
