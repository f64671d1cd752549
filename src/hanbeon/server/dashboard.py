"""The dashboard: a page at `/` with its scripts and style, bundled when the package is built."""

from __future__ import annotations

from starlette.responses import Response

from hanbeon.domain.access import Need
from hanbeon.errors import NotFound
from hanbeon.rule import Rule
from hanbeon.server.docs_pages import FOLDER, PAGE, Page, file_page
from hanbeon.surfaces.operation import Operation

_FILES = {
    "/": ("page", "index.html", "text/html", "The dashboard."),
    "/dashboard/app.js": ("script", "app.js", "text/javascript", "Script of the dashboard."),
    "/dashboard/app.css": ("style", "app.css", "text/css", "Style sheet of the dashboard."),
    "/dashboard/icon.svg": ("icon", "icon.svg", "image/svg+xml", "Icon of the dashboard."),
}
_MISSING = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Hanbeon</title>
<h1>Hanbeon</h1><p>The server runs. Its dashboard is not there: it could not be built when the package was installed,
because the npm registry could not be reached. Where it can, <code>make setup</code> or installing again builds it.</p>
<p><a href="/docs">The API</a> works as usual.</p></html>
"""

# The name of a chunk has the hash of its content: it never changes, and another version of the page has other names.
_FOREVER = "public, max-age=31536000, immutable"

OPERATIONS = (
    *(
        Operation(
            *("GET", path, Need.NOTHING, call, summary),
            responses=PAGE,
            media=media,
            errors=() if path == "/" else (NotFound,),
            quiet=path != "/",
        )
        for path, (call, _, media, summary) in _FILES.items()
    ),
    Operation(
        *("GET", "/dashboard/chunks/{name}", Need.NOTHING, "chunk", "Part of the dashboard's script."),
        responses=PAGE,
        media="text/javascript",
        errors=(NotFound,),
        quiet=True,
    ),
)


class Dashboard:
    """Responses to the operations above."""

    def __init__(self) -> None:
        self._pages = {
            call: file_page(f"dashboard/{name}", media)
            for call, name, media, _ in _FILES.values()
            if (FOLDER / "dashboard" / name).exists()
        }
        self._chunks = {
            file.name: Page(file.read_bytes(), "text/javascript", _FOREVER)
            for file in (FOLDER / "dashboard" / "chunks").glob("*.js")
        }

    async def page(self) -> Response:
        return self._pages.get("page") or Page(_MISSING, "text/html")

    async def script(self) -> Response:
        return self._found("script")

    async def style(self) -> Response:
        return self._found("style")

    async def icon(self) -> Response:
        return self._found("icon")

    async def chunk(self, name: str) -> Response:
        if name not in self._chunks:
            raise NotFound(Rule("no_such_chunk"))
        return self._chunks[name]

    def _found(self, name: str) -> Response:
        if name not in self._pages:
            raise NotFound(Rule("dashboard_not_built"))
        return self._pages[name]
