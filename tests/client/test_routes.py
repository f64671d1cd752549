"""What the client asks for is what the server has: every operation of its API, and no other."""

import inspect
import typing
from typing import Any

import pytest

from hanbeon import App
from hanbeon.client import offices, schedules
from hanbeon.client.methods import ManyMethod, Method, Resource
from tests.server.client import serving

_RESOURCES = [
    each
    for module in (offices, schedules)
    for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, Resource) and each.__bases__ == (Resource,)
]
_METHODS = [
    (f"{resource.__name__}.{name}", method)
    for resource in _RESOURCES
    for name, method in vars(resource).items()
    if isinstance(method, Method | ManyMethod)
]
_HANDLED = {"cursor"}  # By the iterators themselves.
_BESIDE = {"self", "job", "webhook", "delivery", "idempotency_key", "expected"}
_RENAMED = {"start": "from"}
_AS_THEY_ARE = {"OfficeCalls.change_config"}  # It passes on what it is given.


@pytest.fixture
async def document(sqlite_url: str) -> dict[str, Any]:
    async with App(sqlite_url) as app, serving(app) as server:
        described: dict[str, Any] = (await server.get("/openapi.json")).json
        return described


def _operation(document: dict[str, Any], method: Any) -> dict[str, Any]:
    operation: dict[str, Any] = document["paths"][method.route.path][method.route.method.lower()]
    return operation


def _parameters(method: Any) -> set[str]:
    """The names that it takes, those of an unpacked dict included."""
    function = inspect.unwrap(method.__wrapped__)
    names: set[str] = set()
    for name, each in inspect.signature(function).parameters.items():
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            (unpacked,) = typing.get_args(typing.get_type_hints(function)[name])
            names |= set(unpacked.__annotations__) | set(typing.get_type_hints(unpacked))
        else:
            names.add(_RENAMED.get(name, name))
    return names


def test_client_methods_match_the_api_operations(document: dict[str, Any]) -> None:
    there = {
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method in methods
        if path.startswith("/api/")
    }
    assert {(method.route.method, method.route.path) for _, method in _METHODS} == there


def test_only_creating_methods_send_an_idempotency_key(document: dict[str, Any]) -> None:
    for name, method in _METHODS:
        keyed = any(each["name"] == "Idempotency-Key" for each in _operation(document, method).get("parameters", ()))
        assert method.route.creates == keyed == ("idempotency_key" in _parameters(method)), name


def test_queries_have_the_names_that_the_server_takes(document: dict[str, Any]) -> None:
    for name, method in _METHODS:
        if name.endswith(".wait") or method.route.method not in ("GET", "DELETE"):
            continue
        documented = {
            each["name"] for each in _operation(document, method).get("parameters", ()) if each["in"] == "query"
        }
        assert _parameters(method) - _BESIDE == documented - _HANDLED, name


def test_bodies_have_the_names_that_the_server_takes(document: dict[str, Any]) -> None:
    checked = 0
    for name, method in _METHODS:
        body = _operation(document, method).get("requestBody")
        if body is None or name in _AS_THEY_ARE:
            continue
        reference = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        known = set(document["components"]["schemas"][reference]["properties"])
        assert _parameters(method) - _BESIDE == known, name
        checked += 1
    assert checked == 9
