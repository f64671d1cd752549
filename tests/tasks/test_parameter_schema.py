"""The parameters of tasks as JSON Schemas, from which forms are made."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

from hanbeon import App, Context
from hanbeon.tasks.parameter_schema import MOST_BYTES


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Opaque:
    """A type that only its own code describes."""


def _schema(app: App, name: str) -> dict[str, Any] | None:
    return app.tasks.get(name).signature.schema()


def test_schema_has_types_and_defaults_of_a_function() -> None:
    app = App("sqlite:///unused.db")

    @app.task(name="fetch")
    async def fetch(ctx: Context, url: str, size: Size, tries: int = 3, since: dt.date | None = None) -> None: ...

    assert _schema(app, "fetch") == {
        "type": "object",
        "properties": {
            "url": {"type": "string"},
            "size": {"$ref": "#/$defs/Size"},
            "tries": {"type": "integer", "default": 3},
            "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
        },
        "required": ["url", "size"],
        "additionalProperties": False,
        "$defs": {"Size": {"title": "Size", "enum": ["large", "small"]}},
    }


def test_schema_of_declared_parameters() -> None:
    app = App("sqlite:///unused.db")
    params = {
        "to": {"type": "string", "pattern": "[a-z]+"},
        "size": {"type": "integer", "choices": [1, 2], "default": 1},
    }
    app.command("copy", ["cp", "{args.to}", "{args.size}"], params=params)
    assert _schema(app, "copy") == {
        "type": "object",
        "properties": {
            "to": {"type": "string", "pattern": "^(?:[a-z]+)$"},
            "size": {"type": "integer", "enum": [1, 2], "default": 1},
        },
        "required": ["to"],
        "additionalProperties": False,
    }


def test_schema_that_is_too_long_is_not_kept() -> None:
    app = App("sqlite:///unused.db")

    @app.task(name="long")
    def long(text: str = "x" * MOST_BYTES) -> None: ...

    assert _schema(app, "long") is None
