"""The client's methods are those of the server's API and of its documentation, with typed stubs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.client import Client
from hanbeon.client.methods import ClientMethod, Wait, methods_of
from hanbeon.surfaces.registry import SURFACES
from tests.server.client import serving
from tools.client_stubs import PATH, client_resources

_METHODS: list[ClientMethod] = [method for surface in SURFACES for method in methods_of(surface)]
_OF_BROWSERS = "/api/session"
"""A program sends its token with each request."""
_PAGE = Path(__file__).parents[2] / "docs/client.md"


async def test_every_operation_of_the_api_has_one_method(sqlite_url: str) -> None:
    async with App(sqlite_url) as app, serving(app) as server:
        document: dict[str, Any] = (await server.get("/openapi.json")).json
    there = sorted(
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method in methods
        if path.startswith("/api/") and path != _OF_BROWSERS
    )
    called = [each for each in _METHODS if not isinstance(each, Wait)]
    assert sorted((method.operation.method, method.operation.path) for method in called) == there
    places = [(each.binding.resource, each.binding.name) for each in _METHODS]
    assert len(places) == len(set(places))


def test_methods_are_those_of_the_page_on_the_client() -> None:
    documented: dict[str, set[str]] = {}
    resources: list[str] = []
    for objects, calls in re.findall(r"^\| (`client\..*?)? ?\| (`.*?) \|$", _PAGE.read_text(), re.MULTILINE):
        resources = re.findall(r"client\.(\w+)", objects) or resources
        groups = calls.split(";") if len(resources) > 1 else [calls]
        for resource, group in zip(resources, groups, strict=True):
            documented.setdefault(resource, set()).update(re.findall(r"`(\w+)`", group))
    derived: dict[str, set[str]] = {}
    for method in _METHODS:
        derived.setdefault(method.binding.resource, set()).add(method.binding.name)
    assert documented == derived


@pytest.mark.parametrize(
    ("resource", "method", "signature"),
    [
        ("schedules", "preview", "n, start"),
        ("office", "create_jobs", "jobs, idempotency_key"),
        ("office", "change_config", "changes, expected"),
        ("office", "delivery", "webhook, delivery"),
        ("office", "jobs", "cursor, limit, role, status, task_id"),
        ("office", "graph", ""),
        ("office", "wait", "job, timeout"),
        ("execution", "cancel", ""),
    ],
)
def test_methods_take_what_their_operation_takes(resource: str, method: str, signature: str) -> None:
    (found,) = (each for each in _METHODS if (each.binding.resource, each.binding.name) == (resource, method))
    names = [name for name in found.signature.parameters if name != "self"]
    assert set(signature.split(", ")) - {""} <= set(names)
    assert method != "graph" or "cursor" not in names


def test_methods_show_their_signature_and_purpose() -> None:
    with Client("http://127.0.0.1:1") as client:
        assert str(inspect.signature(client.office("1").change_config)) == "(changes, *, expected=None)"
        assert client.office("1").id == "1"
        assert "priority" in (client.office("1").priority.__doc__ or "")
        assert "offices" in dir(client)
        with pytest.raises(AttributeError, match="has no attribute 'ofices'"):
            client.ofices  # type: ignore[attr-defined]  # noqa: B018
        with pytest.raises(TypeError, match="unexpected keyword argument 'nmae'"):
            client.offices.create("a", nmae="b")  # type: ignore[call-arg]


def test_stub_of_the_resources_is_up_to_date() -> None:
    assert client_resources() == PATH.read_text(), "run `make docs`"
