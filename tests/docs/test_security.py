"""The claims of docs/security.md about scopes and limits, against a registry and a server."""

import re
from pathlib import Path

from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.surfaces.registry import SURFACES

_PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
_OPERATIONS = [operation for surface in SURFACES for operation in surface.operations]
_READS = {
    ("POST", "/api/schedules/preview"),
    ("POST", "/api/workflows/{id}/dry-run"),
    ("POST", "/api/offices/{id}/scheduler/simulate"),
}
"""With a body, and changes nothing."""


def test_every_change_is_listed_with_its_least_scope() -> None:
    listed = {
        (method, path): scope for method, path, scope in re.findall(r"^\| `([A-Z]+) (\S+)` \| `(\w+)` \|", _PAGE, re.M)
    }
    changes = {(each.method, each.path): each.need for each in _OPERATIONS if each.method != "GET"}
    assert listed.keys() == changes.keys() - _READS
    for change, scope in listed.items():
        allowed = ALLOWED[changes[change]]
        assert scope in allowed
        assert Scope.READ not in allowed
        assert (scope in (Scope.ADMIN, Scope.CRON)) == (Scope.USER not in allowed)


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
