"""The claims of docs/security.md about scopes and limits, against a registry and a server."""

import re
from pathlib import Path

import pytest

from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface

_DOCS = Path(__file__).parents[2] / "docs"
_PAGE = (_DOCS / "security.md").read_text()
_OPERATIONS = [operation for surface in SURFACES for operation in surface.operations]
_READS = {
    ("POST", "/api/schedules/preview"),
    ("POST", "/api/workflows/{id}/dry-run"),
    ("POST", "/api/offices/{id}/scheduler/simulate"),
}
"""With a body, and changes nothing."""


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_every_operation_is_listed_with_its_least_scope(surface: Surface) -> None:
    page = (_DOCS / surface.docs).read_text()
    rows = re.findall(r"^\| `([A-Z]+) ([^?`]+)[^|]*\| [^|]+ \| ((?:`\w+`(?:, )?)+) \|", page, re.MULTILINE)
    listed = {(method, path): set(re.findall(r"\w+", scopes)) for method, path, scopes in rows}
    for each in surface.operations:
        scopes = listed[each.method, each.path]
        allowed = ALLOWED[each.need]
        assert scopes <= allowed
        assert (Scope.READ in scopes) == (Scope.READ in allowed)
        assert (Scope.CRON in scopes) == (Scope.CRON in allowed)
        assert scopes & {Scope.READ, Scope.USER, Scope.CRON} or allowed == {Scope.ADMIN}


def test_read_scope_changes_nothing() -> None:
    reading = {(each.method, each.path) for each in _OPERATIONS if Scope.READ in ALLOWED[each.need]}
    assert {(method, path) for method, path in reading if method != "GET"} <= _READS


def test_no_operation_of_a_surface_is_open_to_everyone() -> None:
    open_to_all = [each.path for each in _OPERATIONS if each.need is Need.NOTHING]
    assert open_to_all == []
    assert not [channel for surface in SURFACES for channel in surface.channels if channel.need is Need.NOTHING]


def test_tests_of_the_page_exist() -> None:
    linked = re.findall(r"\]\(\.\./(tests/[^)#]+)\)", _PAGE)
    assert len(linked) >= 8
    assert [path for path in linked if not (Path(__file__).parents[2] / path).exists()] == []
