"""The API description and an interactive page for it, which loads nothing from other sites."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hanbeon.domain.access import Need
from hanbeon.server.openapi import describe
from hanbeon.surfaces.operation import Channel, Operation

FOLDER = Path(__file__).parent / "page"
KOREAN = "korean.json"
"""Summaries of operations, descriptions of schemas and of settings in Korean, by their English text."""
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "media-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
PAGE = {200: None, 304: None}
"""Responses of a page."""

OPERATIONS = (
    Operation("GET", "/openapi.json", Need.NOTHING, "openapi", "This description.", responses=PAGE),
    Operation(
        *("GET", "/docs", Need.NOTHING, "page", "A page that shows this description."),
        responses=PAGE,
        media="text/html",
    ),
    Operation(
        *("GET", "/docs/docs.css", Need.NOTHING, "style", "Style sheet of the page."), responses=PAGE, media="text/css"
    ),
    Operation(
        *("GET", "/docs/docs.js", Need.NOTHING, "script", "Script of the page."),
        responses=PAGE,
        media="text/javascript",
    ),
    Operation(
        *("GET", "/docs/korean.json", Need.NOTHING, "korean", "Korean texts of the page and of settings."),
        responses={200: dict[str, str], 304: None},
    ),
)


class Page(Response):
    """A response that is made once and sent to everyone, or 304 to those who have it."""

    def __init__(self, content: bytes, media_type: str, cached: str = "no-cache") -> None:
        self._tag = f'"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'
        self._fixed = {"ETag": self._tag, "Cache-Control": cached, "Content-Security-Policy": _POLICY}
        super().__init__(content, headers=self._fixed, media_type=media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = Headers(scope=scope).get("if-none-match", "")
        tags = [each.strip().removeprefix("W/") for each in known.split(",")]
        if self._tag in tags or tags == ["*"]:
            await Response(status_code=304, headers=self._fixed)(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class DocsPages:
    """Responses to the operations above."""

    def __init__(self, operations: Sequence[Operation], channels: Sequence[Channel]) -> None:
        self._operations, self._channels = [*operations, *OPERATIONS], channels
        self._page = file_page("docs.html", "text/html")
        self._style = file_page("docs.css", "text/css")
        self._script = file_page("docs.js", "text/javascript")
        self._korean = file_page(KOREAN, "application/json")

    @cached_property
    def _description(self) -> Page:
        """Made once: it takes tens of milliseconds, during which nothing else is answered."""
        description = describe(self._operations, self._channels)
        return Page(msgspec.json.encode(description), "application/json")

    async def openapi(self) -> Response:
        return self._description

    async def page(self) -> Response:
        return self._page

    async def style(self) -> Response:
        return self._style

    async def script(self) -> Response:
        return self._script

    async def korean(self) -> Response:
        return self._korean


def file_page(name: str, media: str) -> Page:
    return Page((FOLDER / name).read_bytes(), media)
