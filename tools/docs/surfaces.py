"""docs/surfaces.md, from the registry of surfaces."""

from __future__ import annotations

from collections.abc import Iterator

from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.surfaces.operation import Channel, Operation
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface
from tools.docs.markdown import table

PATH = "surfaces.md"
SOURCE = "src/hanbeon/surfaces/*/operations.py"


def render() -> str:
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# Surfaces and their operations\n"
    yield "Each surface is one service of the [App](engine.md), one part of the [HTTP API](server.md), and one page.\n"
    rows = [(f"`app.{each.name}`", each.title, f"[{each.docs}]({each.docs})") for each in SURFACES]
    yield table(("service", "surface", "page"), rows)
    for surface in SURFACES:
        yield f"\n## {surface.name.capitalize()}\n"
        yield table(("request", "scopes", "method", "what it does"), list(_rows(surface)))
    yield ""


def _rows(surface: Surface) -> Iterator[tuple[str, str, str, str]]:
    for each in surface.operations:
        yield f"`{each.method} {each.path}`", _scopes(each), f"`{each.call}`", each.summary
    for channel in surface.channels:
        for path in (f"WS {channel.websocket}", f"GET {channel.sse}"):
            yield f"`{path}`", _scopes(channel), f"`{channel.call}`", channel.summary


def _scopes(operation: Operation | Channel) -> str:
    allowed = ALLOWED[operation.need]
    return "anyone" if operation.need is Need.NOTHING else ", ".join(scope for scope in Scope if scope in allowed)
