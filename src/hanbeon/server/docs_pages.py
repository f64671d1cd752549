"""The API description and an interactive page for it, which loads nothing from other sites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from starlette.responses import RedirectResponse, Response

from hanbeon.domain.access import Need
from hanbeon.server.openapi import describe
from hanbeon.surfaces.operation import Channel, Operation

_FOLDER = Path(__file__).parent / "page"
_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'"

OPERATIONS = (
    Operation("GET", "/openapi.json", Need.NOTHING, "openapi", "This description."),
    Operation("GET", "/", Need.NOTHING, "home", "Redirects to `/docs`.", responses={307: None}),
    Operation("GET", "/docs", Need.NOTHING, "page", "A page that shows this description.", media="text/html"),
    Operation("GET", "/docs/docs.css", Need.NOTHING, "style", "Style sheet of the page.", media="text/css"),
    Operation("GET", "/docs/docs.js", Need.NOTHING, "script", "Script of the page.", media="text/javascript"),
)


class DocsPages:
    """Responses to the operations above."""

    def __init__(self, operations: Sequence[Operation], channels: Sequence[Channel]) -> None:
        self._operations, self._channels = [*operations, *OPERATIONS], channels

    async def openapi(self) -> Response:
        description = describe(self._operations, self._channels)
        return Response(msgspec.json.encode(description), media_type="application/json")

    async def home(self) -> Response:
        return RedirectResponse("/docs")

    async def page(self) -> Response:
        return _file("docs.html", "text/html")

    async def style(self) -> Response:
        return _file("docs.css", "text/css")

    async def script(self) -> Response:
        return _file("docs.js", "text/javascript")


def _file(name: str, media: str) -> Response:
    return Response((_FOLDER / name).read_bytes(), headers={"Content-Security-Policy": _POLICY}, media_type=media)
