"""Declared fields that are read from arguments and the environment, each with its type, bounds and description."""

from __future__ import annotations

import inspect
import math
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

_TRUE, _FALSE = frozenset(("1", "true", "t", "yes", "y", "on")), frozenset(("0", "false", "f", "no", "n", "off"))
_INTEGER = re.compile(r"([+-]?[0-9]+(?:_[0-9]+)*)(?:\.0+)?")
_DIGITS = 4_000
_TOO_LONG = "Unable to parse input string as an integer, exceeded maximum size"
Check = Callable[[Any, Mapping[str, Any]], Any]
"""Returns a value, perhaps in another form; gets the fields before it, too. ValueError says which rule it breaks."""


class InvalidFields(ValueError):
    """Invalid values, with a reason each: in the order of the fields, then unknown names."""

    def __init__(self, messages: list[tuple[str, str]]) -> None:
        # Without the values: some are secrets.
        super().__init__("; ".join(f"{name}: {message}" for name, message in messages))
        self.messages = messages


class FieldInfo:
    """A declared field: default, bounds and description."""

    annotation: Any
    kind: type
    optional: bool

    def __init__(self, default: Any, description: str, check: Check | None, repr: bool) -> None:
        self.default, self.description, self.repr = default, description, repr
        self._check = check
        self.min_length = 0
        self.bounds: Mapping[str, float] = {}

    def declare(self, annotation: Any) -> None:
        """Take the type from the annotation: bool, int, float or str, or one of them or None."""
        self.annotation = annotation
        union = isinstance(annotation, types.UnionType)
        self.kind, self.optional = typing.get_args(annotation)[0] if union else annotation, union

    def read(self, value: Any, others: Mapping[str, Any]) -> Any:
        """Convert and check a value; the error says which rule it breaks. `others` are the fields before it."""
        if not (value is None and self.optional):
            value = _READERS[self.kind](value)
            self._check_bounds(value)
        return value if self._check is None else self._check(value, others)

    def _check_bounds(self, value: Any) -> None:
        if self.kind is str and len(value) < self.min_length:
            plural = "" if self.min_length == 1 else "s"
            raise ValueError(f"String should have at least {self.min_length} character{plural}")
        for bound, limit in self.bounds.items():
            words, holds = _BOUNDS[bound]
            if not holds(value, limit):
                raise ValueError(f"Input should be {words} {int(limit) if limit == int(limit) else limit}")


def Field(
    default: Any,
    *,
    description: str,
    check: Check | None = None,
    min_length: int = 0,
    repr: bool = True,
    **bounds: float,
) -> Any:  # It stands where its value will be read.
    """Declare a field; bounds are `ge`, `gt` and `le`. `repr=False` keeps its value out of `repr`."""
    field = FieldInfo(default, description, check, repr)
    field.min_length, field.bounds = min_length, bounds
    return field


class DeclaredFields:
    """Base of an immutable record: a field's value is its argument, else its variable, else its default."""

    env_prefix: ClassVar[str]
    model_fields: ClassVar[Mapping[str, FieldInfo]]

    def __init_subclass__(cls, *, env_prefix: str) -> None:
        cls.env_prefix = env_prefix
        fields = {name: value for name, value in vars(cls).items() if isinstance(value, FieldInfo)}
        hints = inspect.get_annotations(cls, eval_str=True)
        for name, field in fields.items():
            field.declare(hints[name])
            delattr(cls, name)
        cls.model_fields = types.MappingProxyType(fields)

    def __init__(self, **given: Any) -> None:
        variables = {name.lower(): value for name, value in os.environ.items()}
        prefix = self.env_prefix.lower()
        problems = []
        found: dict[str, Any] = {}
        for name, field in self.model_fields.items():
            value = given[name] if name in given else variables.get(f"{prefix}{name}", field.default)
            try:
                found[name] = field.read(value, found)
            except (TypeError, ValueError) as error:
                problems.append((name, str(error)))
        problems += [(name, "Extra inputs are not permitted") for name in given if name not in self.model_fields]
        if problems:
            raise InvalidFields(problems)
        vars(self).update(found)

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a copy with other values, which are not checked."""
        copy = object.__new__(type(self))
        vars(copy).update({**vars(self), **update})
        return copy

    def model_dump(self) -> dict[str, Any]:
        """Return the value of each field."""
        return {name: getattr(self, name) for name in self.model_fields}

    def __setattr__(self, name: str, value: Any) -> None:
        raise InvalidFields([(name, "Instance is frozen")])

    def __delattr__(self, name: str) -> None:
        raise InvalidFields([(name, "Instance is frozen")])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *self.model_dump().values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, field in self.model_fields.items() if field.repr)
        return f"{type(self).__name__}({shown})"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("Input should be a valid string")
    return value


def _flag(value: Any) -> bool:
    if isinstance(value, str):
        text = value.lower()
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
    elif isinstance(value, int | float):
        if value in (0, 1):
            return bool(value)
    else:
        raise TypeError("Input should be a valid boolean")
    raise ValueError("Input should be a valid boolean, unable to interpret input")


def _integer(value: Any) -> int:
    if isinstance(value, str):
        written = _INTEGER.fullmatch(value.strip())
        if written is None:
            raise ValueError("Input should be a valid integer, unable to parse string as an integer")
        if len(value) > _DIGITS:
            raise ValueError(_TOO_LONG)
        return int(written[1])
    if isinstance(value, int):
        return int(value)  # In Python, a bool is an int too.
    if not isinstance(value, float):
        raise TypeError("Input should be a valid integer")
    if not math.isfinite(value):
        raise ValueError("Input should be a finite number")
    if not value.is_integer():
        raise ValueError("Input should be a valid integer, got a number with a fractional part")
    if abs(value) > sys.maxsize:
        raise ValueError(_TOO_LONG)
    return int(value)


def _number(value: Any) -> float:
    if not isinstance(value, str | int | float):
        raise TypeError("Input should be a valid number")
    try:
        if isinstance(value, str) and not value.isascii():
            raise ValueError("Python reads digits of other scripts")
        number = float(value)
    except OverflowError:
        raise ValueError("Input should be a valid number") from None
    except ValueError:
        raise ValueError("Input should be a valid number, unable to parse string as a number") from None
    if not math.isfinite(number):
        raise ValueError("Input should be a finite number")
    return number


_READERS: Mapping[type, Callable[[Any], Any]] = {bool: _flag, int: _integer, float: _number, str: _text}
_BOUNDS: Mapping[str, tuple[str, Callable[[float, float], bool]]] = {
    "gt": ("greater than", lambda value, limit: value > limit),
    "ge": ("greater than or equal to", lambda value, limit: value >= limit),
    "le": ("less than or equal to", lambda value, limit: value <= limit),
}
