"""Types of the HTTP API for the page, `dashboard/src/lib/api_types.ts`, from the description of the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hanbeon.server import docs_pages, health, session
from hanbeon.server.openapi import describe
from hanbeon.surfaces.operation import Operation
from hanbeon.surfaces.registry import SURFACES

PATH = Path(__file__).parents[1] / "dashboard/src/lib/api_types.ts"
_HEAD = "// Generated from the description of the API by `make docs`."
_SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_JSON = "application/json"


def api_types() -> str:
    """The text of the module."""
    operations = [
        *health.OPERATIONS,
        *session.OPERATIONS,
        *(each for each in docs_pages.OPERATIONS if each.call == "korean"),
        *(each for surface in SURFACES for each in surface.operations),
    ]
    # Events are described as answers to requests for their channels, so that each type has one name wherever it occurs.
    channels = [channel for surface in SURFACES for channel in surface.channels]
    operations += [
        Operation("GET", each.websocket, each.need, each.call, each.summary, responses={200: each.event})
        for each in channels
    ]
    description = describe(operations, [])
    schemas = description["components"]["schemas"]
    types = [f"export type {_name(name)} = {_type(schema, top=True)};" for name, schema in sorted(schemas.items())]
    sockets = [each.websocket for each in channels]
    calls = [
        f"  {_quoted(f'{method.upper()} {path}')}: {_call(call)};"
        for path, methods in description["paths"].items()
        for method, call in methods.items()
        if _is_json(call) and path not in sockets
    ]
    streams = [f"  {_quoted(path)}: {_call(description['paths'][path]['get'])};" for path in sockets]
    lines = [_HEAD, "", *types, "", "export interface Calls {", *calls, "}", "", "export interface Streams {", *streams]
    return "\n".join([*lines, "}", ""])


def _is_json(call: dict[str, Any]) -> bool:
    done = [response for status, response in call["responses"].items() if status.startswith("2")]
    bodies = [call["requestBody"], *done] if "requestBody" in call else done
    return all(_JSON in each.get("content", {_JSON: {}}) for each in bodies)


def _call(call: dict[str, Any]) -> str:
    parameters = call.get("parameters", [])
    parts = {kind: _fields([each for each in parameters if each["in"] == kind]) for kind in ("path", "query")}
    body = call.get("requestBody")
    parts["body"] = "undefined" if body is None else _type(body["content"][_JSON].get("schema", {}))
    done = [response for status, response in call["responses"].items() if status.startswith("2")]
    kinds = {_type(each["content"][_JSON].get("schema", {})) if "content" in each else "undefined" for each in done}
    parts["result"] = " | ".join(sorted(kinds))
    return "{ " + "; ".join(f"{name}: {text}" for name, text in parts.items()) + " }"


def _fields(parameters: list[dict[str, Any]]) -> str:
    fields = [
        f"{_key(each['name'])}{'' if each.get('required') else '?'}: {_type(each.get('schema', {}))}"
        for each in parameters
    ]
    return "{ " + "; ".join(fields) + " }" if fields else "Record<string, never>"


def _type(schema: dict[str, Any], *, top: bool = False) -> str:
    if "$ref" in schema:
        return _name(str(schema["$ref"]).rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(_quoted(each) if isinstance(each, str) else str(each).lower() for each in schema["enum"])
    if "const" in schema:
        return _quoted(schema["const"])
    if "anyOf" in schema or "oneOf" in schema:
        return " | ".join(sorted({_type(each) for each in schema.get("anyOf") or schema["oneOf"]}))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(sorted({_type({**schema, "type": each}) for each in kind}))
    if kind == "array":
        return f"Array<{_type(schema.get('items') or {})}>"
    if kind == "object":
        return _object(schema, top=top)
    return _SIMPLE.get(kind or "", "unknown")


def _object(schema: dict[str, Any], *, top: bool) -> str:
    if "properties" not in schema:
        more = schema.get("additionalProperties")
        return f"Record<string, {_type(more) if isinstance(more, dict) else 'unknown'}>"
    required = set(schema.get("required", ()))
    fields = [
        f"{_key(name)}{'' if name in required else '?'}: {_type(value)}" for name, value in schema["properties"].items()
    ]
    return "{\n  " + ";\n  ".join(fields) + ";\n}" if top else "{ " + "; ".join(fields) + " }"


def _name(name: str) -> str:
    """A name that two surfaces have comes with its module: `hanbeon.surfaces.offices.vocabulary.Status`."""
    parts = name.split(".")
    return name if len(parts) == 1 else f"{parts[2].capitalize()}{parts[-1]}"


def _key(name: str) -> str:
    return name if name.isidentifier() else _quoted(name)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    PATH.write_text(api_types())
