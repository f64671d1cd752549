"""Parameters of a task that is not a Python function: declared by name and type, or taken from its placeholders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from hanbeon.errors import ArgumentsDoNotFit, InvalidInput
from hanbeon.quotation import quoted
from hanbeon.tasks.options import check_names, did_you_mean
from hanbeon.tasks.signature import to_json_text
from hanbeon.tasks.template import as_text

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
    "any": Any,
}
_REQUIRED: Any = object()


class Parameter(msgspec.Struct, frozen=True):
    """One parameter; without a default it must be given."""

    type: str = "any"
    default: Any = _REQUIRED

    @property
    def is_required(self) -> bool:
        return self.default is _REQUIRED

    def __str__(self) -> str:
        return self.type if self.is_required else f"{self.type} = {as_text(self.default)}"


class Parameters:
    """Arguments by name. `None` declares nothing: any may be given, and those in `places` must be."""

    context_type: type | None = None

    def __init__(self, task: str, declared: Mapping[str, Any] | None, places: Iterable[str]) -> None:
        self._task = task
        self._places = tuple(dict.fromkeys(places))
        self._declared = None if declared is None else {name: _parameter(name, it) for name, it in declared.items()}
        if self._declared is not None:
            for name in self._places:
                if name not in self._declared:
                    hint = did_you_mean(name, self._declared) or "; declare it"
                    raise InvalidInput(f"{{args.{name}}} is used but not declared{hint}", field="params")

    def __str__(self) -> str:
        if self._declared is None:
            return f"({', '.join([*self._places, '…'])})"
        return f"({', '.join(f'{name}: {each}' for name, each in self._declared.items())})"

    def pack(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Encode the arguments as JSON, checked against names and types."""
        if args:
            raise self._invalid("its arguments must be passed by name")
        text = to_json_text(dict(kwargs), f"an argument of task {quoted(self._task)}", "args")
        self.unpack(text)
        return text

    def unpack(self, text: str) -> dict[str, Any]:
        """Decode the arguments from JSON, with the defaults of those that are missing."""
        try:
            given = msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise self._invalid(f"they are not an object: {error}") from error
        found = given if self._declared is None else self._complete(self._declared, given)
        for name in self._places:
            if name not in found:
                raise self._invalid(f"argument {quoted(name)} is missing")
            if found[name] is None or "\x00" in as_text(found[name]):
                raise self._invalid(
                    f"argument {quoted(name)} is {'null' if found[name] is None else 'text with a NUL'}"
                )
        return found

    def read_result(self, text: str) -> Any:
        return msgspec.json.decode(text)

    def _complete(self, declared: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
        for name in given:
            if name not in declared:
                raise self._invalid(f"it has no parameter {quoted(name)}{did_you_mean(name, declared)}")
        found = {}
        for name, parameter in declared.items():
            if name not in given and parameter.is_required:
                raise self._invalid(f"argument {quoted(name)} is missing")
            found[name] = given.get(name, parameter.default)
            try:
                msgspec.convert(found[name], _TYPES[parameter.type])
            except msgspec.ValidationError as error:
                raise self._invalid(f"argument {quoted(name)}: {error}") from error
        return found

    def _invalid(self, why: str) -> ArgumentsDoNotFit:
        return ArgumentsDoNotFit(f"task {quoted(self._task)}: {why}; it takes {self}", field="args")


def _parameter(name: str, value: Any) -> Parameter:
    field = f"params.{name}"
    if isinstance(value, Mapping):
        check_names(value, Parameter.__struct_fields__, f"parameter {quoted(name)}")
        parameter = Parameter(**value)
    else:
        parameter = Parameter(value)
    if str(parameter.type) not in _TYPES:
        hint = did_you_mean(str(parameter.type), _TYPES)
        raise InvalidInput(f"must be one of {', '.join(_TYPES)}, got {quoted(parameter.type)}{hint}", field=field)
    if not parameter.is_required:
        try:
            msgspec.convert(parameter.default, _TYPES[parameter.type])
        except msgspec.ValidationError as error:
            raise InvalidInput(f"must have a default of its own type: {error}", field=field) from error
    return parameter
