"""Uploads: the one file of a multipart form, handed on as it arrives, in bounded memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import python_multipart
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.responses import Response

from hanbeon.errors import HanbeonError, NotMultipart
from hanbeon.rule import Rule
from hanbeon.server.idempotency import Idempotency
from hanbeon.server.problems import problem_of
from hanbeon.server.request import ApiRequest, NoFields

FIELD = "file"
_HEADER_BYTES = 8_192
_AROUND_BYTES = 262_144
"""How much may come before the content of the file, and after the end of the form: it is read and stored nowhere."""
_REMEDY = f"send a form with one file named {FIELD!r}: curl -F {FIELD}=@replay.jsonl"

Receive = Callable[..., AbstractAsyncContextManager[Any]]


async def respond_to_upload(
    request: ApiRequest, receive: Receive, idempotency: Idempotency, respond: Callable[[Any], Awaitable[Response]]
) -> Response:
    """Receive the file, then respond, once under an Idempotency-Key. A form that is refused is not read to its end."""
    try:
        request.query(NoFields)
        form = FormFile(request)
        await form.begin()
        async with receive(form.parts(), name=form.name, by=request.principal.user, size=form.expected) as upload:
            request.body_digest = bytes.fromhex(upload.checksum)
            return await idempotency.once(request, lambda: respond(upload))
    except HanbeonError as error:
        response = problem_of(error)
        if not request.http.scope.get("hanbeon.body_read"):
            response.headers["Connection"] = "close"
        return response


class FormFile:
    """The file of a form: `begin` reads up to its content, `parts` the content itself."""

    def __init__(self, request: ApiRequest) -> None:
        self.name = ""
        self._http = request.http
        self._stream = request.http.stream()
        self._parser = self._made()
        self._header: tuple[bytearray, bytearray] = (bytearray(), bytearray())
        self._header_bytes = self._fed_bytes = self._idle_bytes = 0
        self._headers: dict[str, str] = {}
        self._files = 0
        self._waiting: list[bytes] = []
        self._is_open = self._is_over = False

    @property
    def expected(self) -> int:
        """The size of the file by the length of the request, or a little less; 0 if unknown. Call `begin` first."""
        length = self._http.headers.get("content-length", "")
        if not length.isdecimal() or len(length) > 18:
            return 0
        here = sum(map(len, self._waiting))
        return here if self._is_over else max(0, int(length) - (self._fed_bytes - here) - self._end_bytes)

    async def begin(self) -> None:
        while not self._is_open:
            if not await self._feed():
                raise NotMultipart(Rule("form_without_file", remedy=_REMEDY), field=FIELD)

    async def parts(self) -> AsyncIterator[bytes]:
        while True:
            waiting, self._waiting = self._waiting, []
            for part in waiting:
                yield part
            if not await self._feed():
                break
        if not self._is_over:
            raise NotMultipart(Rule("form_cut_off"), field=FIELD)
        self._http.scope["hanbeon.body_read"] = True

    async def _feed(self) -> bool:
        """Parse what comes next; False at the end of the request."""
        data = await anext(self._stream, b"")
        if not data:
            return False
        self._fed_bytes += len(data)
        if self._is_over or not self._is_open:
            self._idle_bytes += len(data)
            if self._idle_bytes > _AROUND_BYTES:
                raise NotMultipart(Rule("form_too_large", most=_AROUND_BYTES, remedy=_REMEDY), field=FIELD)
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise NotMultipart(Rule("broken_form", error=error, remedy=_REMEDY), field=FIELD) from None
        return True

    def _made(self) -> python_multipart.MultipartParser:
        kind, options = parse_options_header(self._http.headers.get("content-type", ""))
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise NotMultipart(Rule("not_a_form", got=repr(kind.decode("latin-1")[:80]), remedy=_REMEDY), field=FIELD)
        self._end_bytes = len(b"\r\n--") + len(boundary) + len(b"--\r\n")
        try:
            return python_multipart.MultipartParser(
                boundary,
                {
                    "on_header_field": self._on_header_field,
                    "on_header_value": self._on_header_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers_finished,
                    "on_part_data": self._on_data,
                    "on_end": self._on_end,
                },
            )
        except FormParserError as error:
            raise NotMultipart(Rule("broken_form", error=error, remedy=_REMEDY), field=FIELD) from None

    # What the parser calls

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._add_header(self._header[0], data[start:end])

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._add_header(self._header[1], data[start:end])

    def _add_header(self, to: bytearray, data: bytes) -> None:
        self._header_bytes += len(data)
        if self._header_bytes > _HEADER_BYTES:
            raise NotMultipart(Rule("form_headers_too_large", most=_HEADER_BYTES), field=FIELD)
        to += data

    def _on_header_end(self) -> None:
        name, value = (bytes(each).decode("latin-1") for each in self._header)
        self._headers[name.lower()] = value
        self._header = (bytearray(), bytearray())

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", ""))
        field = options.get(b"name", b"").decode("utf-8", "replace")
        if field != FIELD or b"filename" not in options:
            raise NotMultipart(
                Rule("other_form_field", name=repr(FIELD), got=repr(field[:80]), remedy=_REMEDY),
                field=field[:80] or FIELD,
            )
        self._files += 1
        if self._files > 1:
            raise NotMultipart(Rule("given_twice"), field=FIELD)
        self.name = options[b"filename"].decode("utf-8", "replace")
        self._is_open = True

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        self._waiting.append(data[start:end])

    def _on_end(self) -> None:
        self._is_over = True
