"""Declared fields that are read from arguments and the environment, each with its type, bounds and description."""

from __future__ import annotations

import inspect
import math
import operator
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, cast

from hanbeon.quotation import quoted
from hanbeon.rule import Rule

SECRET = ("_url", "_secret")
"""Name endings of the settings that are, or may contain, a secret."""
CONCURRENCY_MAX = 10_000
LONGEST = 100 * 366 * 86_400.0
"""Seconds; of any duration."""
_TRUE, _FALSE = frozenset(("1", "true", "t", "yes", "y", "on")), frozenset(("0", "false", "f", "no", "n", "off"))
_INTEGER = re.compile(r"([+-]?[0-9]+(?:_[0-9]+)*)(?:\.0+)?")
_DIGITS = 4_000
Check = Callable[[Any, Mapping[str, Any]], Any]
"""Returns a value, perhaps in another form; gets the fields before it, too. `ValueError(Rule(…))` if it breaks one."""


class InvalidFields(ValueError):
    """Invalid values, with the broken rule of each: in the order of the fields, then unknown names."""

    def __init__(self, broken: list[tuple[str, Rule]]) -> None:
        super().__init__("; ".join(f"{name}: {rule}" for name, rule in broken))
        self.broken = broken


class FieldInfo:
    """A declared field: default, bounds and description."""

    annotation: Any
    kind: type
    optional: bool

    def __init__(self, default: Any, description: str, check: Check | None, repr: bool) -> None:
        self.default, self.description, self.repr = default, description, repr
        self._check = check
        self.may_be_empty = True
        self.bounds: Mapping[str, float] = {}

    def declare(self, annotation: Any) -> None:
        """Take the type from the annotation: bool, int, float or str, or one of them or None."""
        self.annotation = annotation
        union = isinstance(annotation, types.UnionType)
        self.kind, self.optional = typing.get_args(annotation)[0] if union else annotation, union

    def read(self, value: Any, others: Mapping[str, Any]) -> Any:
        """Convert and check a value; ValueError or TypeError if it is not `expected`, `ValueError(Rule(…))` else."""
        if not (value is None and self.optional):
            value = _READERS[self.kind](value)
            if value == "" and not self.may_be_empty:
                raise ValueError(Rule("not_empty"))
            for bound, limit in self.bounds.items():
                if not _HOLDS[bound](value, limit):
                    raise ValueError(value)
        return value if self._check is None else self._check(value, others)

    @property
    def expected(self) -> Rule:
        """The rule for its values."""
        if self.kind is bool:
            return Rule("boolean")
        if self.kind is str:
            return Rule("text")
        limits = {name: _shown(value) for name, value in self.bounds.items()}
        high = limits.get("le")
        if "gt" in limits:
            return Rule("number_above", low=limits["gt"], high=high)
        kind = "integer" if self.kind is int else "number"
        if "ge" not in limits:
            return Rule(kind)
        low = limits["ge"]
        return Rule(f"{kind}_at_least", low=low) if high is None else Rule(f"{kind}_from_to", low=low, high=high)


def Field(
    default: Any,
    *,
    description: str,
    check: Check | None = None,
    may_be_empty: bool = True,
    repr: bool = True,
    **bounds: float,
) -> Any:  # It stands where its value will be read.
    """Declare a field; bounds are `ge`, `gt` and `le`. `repr=False` keeps its value out of `repr`."""
    field = FieldInfo(default, description, check, repr)
    field.may_be_empty, field.bounds = may_be_empty, bounds
    return field


def seconds(default: float, description: str) -> Any:
    """Declare a duration."""
    return Field(default, gt=0, le=LONGEST, description=description)


Fields = Mapping[str, FieldInfo]


class _AllFields:
    """The fields of a class, and those that are found when they are asked for."""

    def __init__(self, own: Fields, others: Callable[[Fields], Fields]) -> None:
        self._own, self._others = own, others

    def __get__(self, instance: object, owner: type) -> Fields:
        return self._others(self._own)


class DeclaredFields:
    """Base of an immutable record: a field's value is its argument, else its variable, else its default."""

    env_prefix: ClassVar[str]
    model_fields: ClassVar[Fields]
    chosen: frozenset[str]
    """The names of the fields that have a value from arguments or the environment, even if it is the default."""

    def __init_subclass__(cls, *, env_prefix: str = "", others: Callable[[Fields], Fields] | None = None) -> None:
        """`others` adds to the fields of the class those that are declared elsewhere."""
        cls.env_prefix = env_prefix
        fields = {name: value for name, value in vars(cls).items() if isinstance(value, FieldInfo)}
        hints = inspect.get_annotations(cls, eval_str=True)
        for name, field in fields.items():
            field.declare(hints[name])
            delattr(cls, name)
        own = types.MappingProxyType(fields)
        cls.model_fields = own if others is None else cast(Fields, _AllFields(own, others))

    def __init__(self, **given: Any) -> None:
        variables = {name.lower(): value for name, value in os.environ.items()}
        prefix = self.env_prefix.lower()
        problems = []
        found: dict[str, Any] = {}
        written = {name: variables[f"{prefix}{name}"] for name in self.model_fields if f"{prefix}{name}" in variables}
        written |= given
        for name, field in self.model_fields.items():
            value = written.get(name, field.default)
            try:
                found[name] = field.read(value, found)
            except (TypeError, ValueError) as error:
                problems.append((name, _broken(name, field, value, error)))
        problems += [(name, Rule("unknown_setting")) for name in given if name not in self.model_fields]
        if problems:
            raise InvalidFields(problems)
        vars(self).update(found, chosen=frozenset(written))

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a copy with other values, which are not checked."""
        copy = object.__new__(type(self))
        vars(copy).update({**vars(self), **update, "chosen": self.chosen | update.keys()})
        return copy

    def model_dump(self) -> dict[str, Any]:
        """Return the value of each field."""
        return {name: getattr(self, name) for name in self.model_fields}

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: a setting cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name}: a setting cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.model_dump() == self.model_dump()

    def __hash__(self) -> int:
        return hash((type(self), *self.model_dump().values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, field in self.model_fields.items() if field.repr)
        return f"{type(self).__name__}({shown})"


def _broken(name: str, field: FieldInfo, value: Any, error: Exception) -> Rule:
    rule = error.args[0] if error.args else None
    if isinstance(rule, Rule):
        return rule
    return Rule("must_be", what=field.expected, got=type(value).__name__ if name.endswith(SECRET) else quoted(value))


def _shown(limit: float) -> float:
    return int(limit) if limit == int(limit) else limit


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _flag(value: Any) -> bool:
    if isinstance(value, str):
        text = value.lower()
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
    elif isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise ValueError(value)


def _integer(value: Any) -> int:
    if isinstance(value, str):
        written = _INTEGER.fullmatch(value.strip())
        if written is None or len(value) > _DIGITS:
            raise ValueError(value)
        return int(written[1])
    if isinstance(value, int):
        return int(value)  # In Python, a bool is an int too.
    if not isinstance(value, float) or not value.is_integer() or abs(value) > sys.maxsize:
        raise ValueError(value)
    return int(value)


def _number(value: Any) -> float:
    if not isinstance(value, str | int | float):
        raise TypeError(value)
    if isinstance(value, str) and not value.isascii():
        raise ValueError("Python reads digits of other scripts")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(value) from None
    if not math.isfinite(number):
        raise ValueError(value)
    return number


_READERS: Mapping[type, Callable[[Any], Any]] = {bool: _flag, int: _integer, float: _number, str: _text}
_HOLDS: Mapping[str, Callable[[float, float], bool]] = {"gt": operator.gt, "ge": operator.ge, "le": operator.le}
