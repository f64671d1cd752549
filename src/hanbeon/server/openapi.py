"""The description of the API, made from the same declarations as its routes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import msgspec

from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.server.operation import Channel, Operation
from hanbeon.server.problems import MEDIA_TYPE

_NAMES = re.compile(r"\{(\w+)\}")
_KINDS: dict[type, dict[str, Any]] = {
    int: {"type": "integer"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    list: {"type": "array", "items": {"type": "string"}},
}
_TEXT = {"type": "string"}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "code": {**_TEXT, "description": "Stable; the page of errors lists them."},
        "field": {"type": ["string", "null"], "description": "What does not fit, where one thing does not."},
    },
}


def describe(operations: Iterable[Operation], channels: Iterable[Channel]) -> dict[str, Any]:
    """An OpenAPI 3.1 document. It has no words for WebSockets, so those stand in a part of our own."""
    told = list(operations)
    types = {shape for each in told for shape in (each.body, *each.shapes.values()) if shape is not None}
    ordered = sorted(types, key=str)
    schemas, components = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, Any] = {}
    for each in told:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hanbeon", "version": version("hanbeon")},
        "paths": paths,
        "x-websockets": {each.path: _channel(each) for each in channels},
        "components": {
            "schemas": {**components, "Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation, schema_of: dict[Any, Any]) -> dict[str, Any]:
    parameters = _parameters(operation)
    if operation.creates:
        parameters.append({"name": "Idempotency-Key", "in": "header", "schema": _TEXT})
    answers: dict[str, Any] = {
        str(status): {"description": "Done", **_content("application/json", schema_of.get(shape))}
        for status, shape in (operation.shapes or {200: None}).items()
    }
    answers["default"] = {
        "description": "Refused",
        **_content(MEDIA_TYPE, {"$ref": "#/components/schemas/Problem"}),
    }
    described: dict[str, Any] = {"summary": operation.summary, "responses": answers}
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        described["requestBody"] = _content("application/json", schema_of[operation.body])
    return described | _security(operation.need)


def _channel(channel: Channel) -> dict[str, Any]:
    return {"summary": channel.summary, "parameters": _parameters(channel)} | _security(channel.need)


def _parameters(asked: Operation | Channel) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in _NAMES.findall(asked.path)] + [
        {"name": name, "in": "query", "schema": _KINDS[kind]} for name, kind in asked.query.items()
    ]


def _security(need: Need) -> dict[str, Any]:
    if need is Need.NOTHING:
        return {}
    scopes = [scope.value for scope in Scope if scope in ALLOWED[need]]
    return {"security": [{"token": []}], "x-scopes": scopes}


def _content(media: str, schema: Any) -> dict[str, Any]:
    return {} if schema is None else {"content": {media: {"schema": schema}}}
