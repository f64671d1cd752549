"""The OpenAPI description, generated from the same operations as the routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.errors import Changed, HanbeonError, InvalidInput, Kind, NotFound, Unavailable
from hanbeon.server.idempotency import KEY_PATTERN
from hanbeon.server.problems import MEDIA_TYPE, REFUSALS, status_of, title_of
from hanbeon.surfaces.operation import Channel, Operation
from hanbeon.surfaces.schema import ChannelQuery
from hanbeon.surfaces.validation import optional_nulls, structs_in

_VERSION = version("hanbeon")
_NAMES = re.compile(r"\{(\w+)\}")
_TEXT = {"type": "string"}
_ETAG = {"ETag": {"description": "For If-Match.", "required": True, "schema": _TEXT}}
_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}},
}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "field"],
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "code": {**_TEXT, "description": "Stable code; see the documentation of errors."},
        "field": {"type": ["string", "null"], "description": "The invalid field, if the error is about one."},
        "rule": {
            "type": "object",
            "description": "The rule that was broken, beside the values that `detail` names; some of them are rules.",
            "required": ["code"],
            "properties": {"code": _TEXT},
            "additionalProperties": True,
        },
    },
}


def describe(operations: Sequence[Operation], channels: Sequence[Channel]) -> dict[str, Any]:
    """Return an OpenAPI 3.1 document. WebSockets, which OpenAPI cannot describe, are in an extension."""
    described = [*operations, *map(_sse_operation, channels)]
    requests = {each.request for each in described if each.request is not None and not each.in_query}
    types: set[Any] = set(requests)
    types |= {schema for each in described for schema in each.responses.values() if schema is not None}
    ordered = sorted(types, key=str)
    schemas, components = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(ordered, schemas, strict=True))
    _add_nulls(components, requests)
    paths: dict[str, Any] = {}
    for each in described:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schema_of, _links(each, described))
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hanbeon", "version": _VERSION},
        "paths": paths,
        "x-websockets": {each.websocket: _channel(each) for each in channels},
        "components": {
            "schemas": {**{name: _on_one_line(each) for name, each in components.items()}, "Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _on_one_line(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its docstring as one paragraph: versions of Python differ in how they indent the others."""
    return {**schema, "description": " ".join(schema["description"].split())} if "description" in schema else schema


def _add_nulls(components: Mapping[str, dict[str, Any]], requests: Iterable[type[msgspec.Struct]]) -> None:
    """Describe null in the fields of requests that it leaves out, also in objects inside them."""
    for kind in structs_in(requests):
        qualified = f"{kind.__module__}.{kind.__qualname__}"  # As msgspec names those whose short name is not unique.
        properties = components[qualified if qualified in components else kind.__name__]["properties"]
        for name in optional_nulls(kind):
            choices = properties[name].get("anyOf", [properties[name]])
            properties[name] = {"anyOf": [*choices, {"type": "null"}]}


def _sse_operation(channel: Channel) -> Operation:
    """The server-sent events of a channel as an operation, for the description."""
    return Operation(
        *("GET", channel.sse, channel.need, channel.call, f"{channel.summary} As server-sent events (SSE)."),
        request=ChannelQuery,
        media="text/event-stream",
        errors=channel.errors,
    )


def _operation(operation: Operation, schema_of: Mapping[Any, Any], links: dict[str, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, schema in (operation.responses or {200: None}).items():
        response: dict[str, Any] = {"description": "Done"}
        if schema is not None:
            response |= _content(operation.media, schema_of[schema])
        elif status == 200:
            response |= _content(operation.media, {})
        if operation.downloads:
            response["content"] = {media: {} for media in operation.downloads}
        if operation.versioned:
            response["headers"] = _ETAG
        responses[str(status)] = response | ({"links": links} if links else {})
    if operation.downloads:
        content: dict[str, Any] = {"content": {media: {} for media in operation.downloads}}
        responses["206"] = {"description": "The range that was asked for.", **content}
        responses["304"] = {"description": "The client has it."}
        responses["416"] = {"description": "The range is outside the file.", **content}
    for status, codes in problems_of(operation).items():
        responses[str(status)] = {
            "description": " ".join(f"`{code}`: {title}" for code, title in codes.items()),
            **_content(MEDIA_TYPE, {"$ref": "#/components/schemas/Problem"}),
        }
    described: dict[str, Any] = {
        "operationId": operation_id(operation),
        "summary": operation.summary,
        "responses": responses,
    }
    if parameters := _parameters(operation):
        described["parameters"] = parameters
    if operation.request is not None and not operation.in_query:
        body = _content("application/json", schema_of[operation.request])
        described["requestBody"] = {**body, "required": not operation.body_optional}
    if operation.upload is not None:
        described["requestBody"] = {**_content("multipart/form-data", _FORM), "required": True}
    return described | _security(operation.need)


def _channel(channel: Channel) -> dict[str, Any]:
    parameters = [*_path_parameters(channel.websocket), *_query_parameters(ChannelQuery)]
    return {"summary": channel.summary, "parameters": parameters} | _security(channel.need)


def _security(need: Need) -> dict[str, Any]:
    if need is Need.NOTHING:
        return {}
    scopes = [scope.value for scope in Scope if scope in ALLOWED[need]]
    return {"security": [{"token": []}], "x-scopes": scopes}


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in _NAMES.findall(path)]


def _query_parameters(kind: type[msgspec.Struct]) -> list[dict[str, Any]]:
    schema = msgspec.json.schema(kind)
    (properties,) = (each["properties"] for each in schema["$defs"].values() if each.get("title") == kind.__name__)
    parameters = []
    for name, each in _inlined(properties, schema["$defs"]).items():
        # Null, which Python callers may pass, cannot be written in a query.
        choices = [choice for choice in each.get("anyOf", [each]) if choice.get("type") != "null"]
        found = choices[0] if len(choices) == 1 else {"anyOf": choices}
        # Lists as `status=a&status=b`; commas are accepted as well.
        style = {"style": "form", "explode": True} if found.get("type") == "array" else {}
        parameters.append({"name": name, "in": "query", "schema": found, **style})
    return parameters


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    parameters = _path_parameters(operation.path)
    if operation.request is not None and operation.in_query:
        parameters += _query_parameters(operation.request)
    if operation.query is not None:
        parameters += _query_parameters(operation.query)
    if operation.creates:
        parameters.append({"name": "Idempotency-Key", "in": "header", "schema": {**_TEXT, "pattern": KEY_PATTERN}})
    if operation.checks_version:
        parameters.append({"name": "If-Match", "in": "header", "schema": _TEXT})
    return parameters


def _links(maker: Operation, others: Sequence[Operation]) -> dict[str, Any]:
    """Links from a created resource to its operations: those below its path that need no other parameters."""
    below = f"{maker.path}/{{"
    return {
        operation_id(each): {
            "operationId": operation_id(each),
            "parameters": {name: maker.links[name] for name in each.parameters},
        }
        for each in others
        if maker.links and each.path.startswith(below) and set(each.parameters) <= set(maker.links)
    }


def operation_id(operation: Operation) -> str:
    """A unique id, made from method and path: `get_offices_id_jobs`."""
    words = re.findall(r"\w+", operation.path.removeprefix("/api"))
    return "_".join([operation.method.lower(), *words])


def _inlined(part: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema with its references inlined: those of parameters are small."""
    if isinstance(part, dict):
        if "$ref" in part:
            return _inlined(definitions[part["$ref"].rpartition("/")[2]], definitions)
        return {name: _inlined(value, definitions) for name, value in part.items()}
    return [_inlined(each, definitions) for each in part] if isinstance(part, list) else part


def _content(media: str, schema: Any) -> dict[str, Any]:
    return {"content": {media: {"schema": schema} if schema else {}}}


# Problems that an operation may respond with


_AUTHENTICATED = ("not_authenticated", "not_allowed", "foreign_host", "proxied", "too_many_failures")
_CHANGES = ("foreign_origin",)
_BODY = ("request_too_large", "not_json")
_REPEATED = ("still_under_way", "key_already_used", "request_too_large")


def problems_of(operation: Operation) -> Mapping[int, Mapping[str, str]]:
    """Codes and titles by status."""
    found: dict[int, dict[str, str]] = {}
    for code in sorted({"defect", "too_many_connections", *_http_problems(operation)}):
        status, title = REFUSALS[code]
        found.setdefault(status, {})[code] = title
    for error in _errors(operation):
        found.setdefault(status_of(error), {})[error.code] = title_of(error)
    return dict(sorted(found.items()))


def _http_problems(operation: Operation) -> Iterator[str]:
    if _uses_tokens(operation):
        yield from _AUTHENTICATED
    if operation.method != "GET":
        yield from _CHANGES
    if operation.request is not None and not operation.in_query:
        yield from _BODY
    if operation.creates:
        yield from _REPEATED


def _errors(operation: Operation) -> Iterator[type[HanbeonError]]:
    yield InvalidInput  # At least for an unknown parameter.
    yield from operation.errors
    if operation.checks_version:
        yield Changed
    if operation.parameters and not any(error.kind is Kind.NOT_FOUND for error in operation.errors):
        yield NotFound
    if _uses_tokens(operation):
        yield Unavailable  # Tokens are in the database.


def _uses_tokens(operation: Operation) -> bool:
    """True also for logging in and out, which need no token of their own."""
    return operation.need is not Need.NOTHING or operation.http
