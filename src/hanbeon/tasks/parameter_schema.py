"""The parameters of a task as a JSON Schema, from which forms are made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

Schema = dict[str, Any]
MOST_BYTES = 16_384
"""A longer schema is not kept: its task has the parameters of any JSON."""


def of_struct(
    kind: type[msgspec.Struct], parameters: Mapping[str, inspect.Parameter], own: Mapping[str, Schema]
) -> Schema | None:
    """Return the schema of arguments that are decoded into `kind`, with the defaults that have a JSON form.

    `own` are the schemas of parameters that know theirs.

    A type that only its own code describes takes any JSON here: the arguments are checked when a job is made.
    """
    try:
        whole = msgspec.json.schema(kind, schema_hook=lambda _: {})
        kinds = whole.get("$defs", {})
        schema = kinds.pop(whole["$ref"].rpartition("/")[2])
    except (TypeError, ValueError, KeyError, RecursionError):
        return None
    del schema["title"]
    for name, theirs in own.items():
        kinds |= theirs.get("$defs", {})
        schema["properties"][name] = {key: value for key, value in theirs.items() if key != "$defs"}
    for name, each in parameters.items():
        if each.default is not inspect.Parameter.empty:
            try:
                schema["properties"][name]["default"] = msgspec.to_builtins(each.default)
            except (TypeError, ValueError, RecursionError):
                continue
    return bounded({**schema, "$defs": kinds} if kinds else schema)


def bounded(schema: Schema) -> Schema | None:
    """Return the schema as it is read back from JSON, or None if it is too long or has no such form."""
    try:
        text = msgspec.json.encode(schema)
    except (TypeError, ValueError, RecursionError):
        return None
    return msgspec.json.decode(text, type=Schema) if len(text) <= MOST_BYTES else None
