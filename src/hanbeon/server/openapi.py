"""The description of the API, made from the same declarations as its routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.server.idempotency import KEY_PATTERN
from hanbeon.server.operation import Operation, WebSocketOperation
from hanbeon.server.problems import MEDIA_TYPE
from hanbeon.server.refusals import refusals_of
from hanbeon.server.request import kind_of

_NAMES = re.compile(r"\{(\w+)\}")
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_ETAG = {"ETag": {"description": "For If-Match.", "required": True, "schema": _TEXT}}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "field"],
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "code": {**_TEXT, "description": "Stable; the page of errors lists them."},
        "field": {"type": ["string", "null"], "description": "What does not fit, where one thing does not."},
    },
}


def describe(operations: Iterable[Operation], channels: Iterable[WebSocketOperation]) -> dict[str, Any]:
    """An OpenAPI 3.1 document. It has no words for WebSockets, so those stand in a part of our own."""
    told = list(operations)
    types = {shape for each in told for shape in (each.body, *each.shapes.values()) if shape is not None}
    ordered = sorted(types, key=str)
    schemas, components = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, Any] = {}
    for each in told:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schema_of, _links(each, told))
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


def _operation(operation: Operation, schema_of: Mapping[Any, Any], links: dict[str, Any]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for status, shape in (operation.shapes or {200: None}).items():
        answer: dict[str, Any] = {"description": "Done"}
        if shape is not None:
            answer |= _content(operation.media, schema_of[shape])
        elif status == 200:
            answer |= _content(operation.media, {})
        if operation.tagged:
            answer["headers"] = _ETAG
        answers[str(status)] = answer | ({"links": links} if links else {})
    for status, codes in refusals_of(operation).items():
        answers[str(status)] = {
            "description": " ".join(f"`{code}`: {title}" for code, title in codes.items()),
            **_content(MEDIA_TYPE, {"$ref": "#/components/schemas/Problem"}),
        }
    described: dict[str, Any] = {
        "operationId": _name(operation),
        "summary": operation.summary,
        "responses": answers,
    }
    if parameters := _parameters(operation):
        described["parameters"] = parameters
    if operation.body is not None:
        body = _content("application/json", schema_of[operation.body])
        described["requestBody"] = {**body, "required": not operation.may_be_empty}
    return described | _security(operation.need)


def _channel(channel: WebSocketOperation) -> dict[str, Any]:
    return {"summary": channel.summary, "parameters": _path_and_query(channel)} | _security(channel.need)


def _security(need: Need) -> dict[str, Any]:
    if need is Need.NOTHING:
        return {}
    scopes = [scope.value for scope in Scope if scope in ALLOWED[need]]
    return {"security": [{"token": []}], "x-scopes": scopes}


def _path_and_query(asked: Operation | WebSocketOperation) -> list[dict[str, Any]]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _TEXT} for name in _NAMES.findall(asked.path)
    ]
    for name, hint in asked.query.items():
        schema = _TEXTS if hint is list else msgspec.json.schema(hint)
        # Lists as `status=a&status=b`; with commas they are understood as well.
        style = {"style": "form", "explode": True} if kind_of(hint) is list else {}
        parameters.append({"name": name, "in": "query", "schema": _inline(schema), **style})
    return parameters


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    parameters = _path_and_query(operation)
    if operation.creates:
        parameters.append({"name": "Idempotency-Key", "in": "header", "schema": {**_TEXT, "pattern": KEY_PATTERN}})
    if operation.tagged and operation.method == "PATCH":
        parameters.append({"name": "If-Match", "in": "header", "schema": _TEXT})
    return parameters


def _links(maker: Operation, others: Sequence[Operation]) -> dict[str, Any]:
    """From where something is made to whatever can be asked about it: the paths below that need no more to be known."""
    below = f"{maker.path}/{{"
    return {
        _name(each): {"operationId": _name(each), "parameters": {name: maker.gives[name] for name in names}}
        for each in others
        if maker.gives and each.path.startswith(below) and set(names := _NAMES.findall(each.path)) <= set(maker.gives)
    }


def _name(operation: Operation) -> str:
    """`get_offices_id_jobs`: method and path, which nothing else has."""
    words = re.findall(r"\w+", operation.path.removeprefix("/api"))
    return "_".join([operation.method.lower(), *words])


def _inline(schema: dict[str, Any]) -> dict[str, Any]:
    """Types of parameters are small: what they refer to stands in them."""
    defined = schema.pop("$defs", {})

    def resolved(part: Any) -> Any:
        if isinstance(part, dict):
            if "$ref" in part:
                return resolved(defined[part["$ref"].rpartition("/")[2]])
            return {name: resolved(value) for name, value in part.items()}
        return [resolved(each) for each in part] if isinstance(part, list) else part

    found: dict[str, Any] = resolved(schema)
    return found


def _content(media: str, schema: Any) -> dict[str, Any]:
    return {"content": {media: {"schema": schema} if schema else {}}}
