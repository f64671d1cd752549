"""Models of pydantic in annotations: validated by pydantic, which is imported only where a task has one."""

from __future__ import annotations

import typing
from typing import Any

import msgspec

from hanbeon.domain.json_text import is_model
from hanbeon.tasks.parameter_schema import Schema


def has_model(hint: Any) -> bool:
    """Return True if an annotation is a model, or has one inside."""
    if isinstance(hint, type) and not typing.get_args(hint):
        return is_model(hint)
    return any(has_model(each) for each in typing.get_args(hint))


class ModelType:
    """The type of a parameter or result with models in it."""

    def __init__(self, hint: Any) -> None:
        from pydantic import TypeAdapter

        self._adapter: Any = TypeAdapter(hint)

    def validated(self, value: Any) -> Any:
        """Return a decoded value as its type; raises pydantic's ValidationError, a ValueError."""
        return self.read(msgspec.json.encode(value))

    def read(self, text: str | bytes) -> Any:
        """Return the value of a JSON text: as JSON, in which strict models take text for a date."""
        return self._adapter.validate_json(text)

    def schema(self) -> Schema:
        schema: Schema = self._adapter.json_schema()
        return schema


def why(error: BaseException) -> str | None:
    """Return what pydantic says of a value, without the value and the links; None for another error."""
    if not callable(errors := getattr(error, "errors", None)):
        return None
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'value'}: {each['msg']}" for each in errors()[:5])
