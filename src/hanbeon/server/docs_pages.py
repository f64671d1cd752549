"""The description of the API, and a page that shows it and tries it out, with nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.responses import RedirectResponse, Response

from hanbeon.domain.access import Need
from hanbeon.server.openapi import describe
from hanbeon.server.operation import Operation, Reply, WebSocketOperation
from hanbeon.server.request import ApiRequest

_FOLDER = Path(__file__).parent / "page"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'"


def operations(others: Sequence[Operation], channels: Sequence[WebSocketOperation]) -> list[Operation]:
    own: list[Operation] = []

    async def openapi(ask: ApiRequest) -> Reply:
        return Reply(describe([*others, *own], channels))

    own += [
        Operation("GET", "/openapi.json", Need.NOTHING, openapi, "This description."),
        Operation("GET", "/", Need.NOTHING, _to_the_page, "Leads to `/docs`.", shapes={307: None}),
        _file("/docs", "docs.html", "A page that shows it."),
        _file("/docs/docs.css", "docs.css", "How the page looks."),
        _file("/docs/docs.js", "docs.js", "What the page does."),
    ]
    return own


async def _to_the_page(ask: ApiRequest) -> Response:
    return RedirectResponse("/docs")


def _file(path: str, name: str, summary: str) -> Operation:
    body, media = (_FOLDER / name).read_bytes(), _TYPES[Path(name).suffix]

    async def answer(ask: ApiRequest) -> Response:
        return Response(body, headers={"Content-Security-Policy": _POLICY}, media_type=media)

    return Operation("GET", path, Need.NOTHING, answer, summary, media=media)
