"""The rule that an input broke: a code with values, of which every language is rendered.

`rules.json` has the texts of each code; those of a surface are in its folder. In a text `{name}` is a value, `{name:,}`
one with thousands separators, `{name|sep}` the elements of a list between separators, `[[…]]` a part that is left out
where a value in it is absent or empty, and `[[!name|…]]` one that is only there where that value is not. The page
renders the same texts (dashboard/src/lib/rules.ts).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from hanbeon.quotation import TEXT_CHARACTERS, plain, quoted

TABLE = Path(__file__).with_name("rules.json")
_LARGEST = 2**53
_OPTIONAL = re.compile(r"\[\[(?:!([a-z_]+)\|)?(.*?)\]\]", re.DOTALL)
_VALUE = re.compile(r"\{([a-z_]+)(?::(,)|\|([^{}]*))?\}")
_ABSENT: tuple[object, ...] = (None, "", [])


class Rule:
    """A code of the table and its values, which may be rules themselves."""

    __slots__ = ("code", "values")

    def __init__(self, code: str, /, **values: Any) -> None:
        self.code = code
        self.values = {name: _value(value) for name, value in values.items()}

    def __str__(self) -> str:
        return _rendered(_text_of(self.code), self.values)

    def __repr__(self) -> str:
        return f"Rule({self.code!r}, {self.values!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self.serialize() == other.serialize()

    def __hash__(self) -> int:
        return hash(self.code)

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Rule:
        """Return the rule that JSON has, which may be one of a newer release: it cannot be rendered then."""
        values = {name: _parsed(value) for name, value in data.items() if name != "code"}
        return cls(str(data.get("code", "")), **values)

    def extended(self, **values: Any) -> Rule:
        """Return it with values that its text, or that of a rule in it, may mention."""
        inner = {name: _extended(value, values) for name, value in self.values.items()}
        return Rule(self.code, **{**values, **inner})

    def serialize(self) -> dict[str, Any]:
        """Return the rule as JSON has it: its code beside the values that it has."""
        given = {name: _serialized(value) for name, value in self.values.items() if value is not None}
        return {"code": self.code, **given}


def _value(value: Any) -> Any:
    """Return a value that JSON can carry, and JavaScript can read: rules, texts, numbers, and lists of them."""
    if value is None or isinstance(value, Rule | bool | float):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < _LARGEST else quoted(value)
    if isinstance(value, Exception):
        return _rule_of(value)
    if isinstance(value, Iterable) and not isinstance(value, str) and not hasattr(value, "_fields"):
        return [_value(each) for each in value]
    return plain(str(value), TEXT_CHARACTERS)


def _rule_of(error: Exception) -> Any:
    """Return the rule of an error that is a value of another one; its text, if it has none."""
    rule = getattr(error, "rule", None) or (error.args[0] if error.args else None)
    if not isinstance(rule, Rule):
        return plain(str(error), TEXT_CHARACTERS)
    field = getattr(error, "field", None)
    return Rule("in_field", field=field, rule=rule) if field else rule


def _extended(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, Rule):
        return value.extended(**values)
    return [_extended(each, values) for each in value] if isinstance(value, list) else value


def _parsed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Rule.parse(value)
    return [_parsed(each) for each in value] if isinstance(value, list) else value


def _serialized(value: Any) -> Any:
    if isinstance(value, Rule):
        return value.serialize()
    return [_serialized(each) for each in value] if isinstance(value, list) else value


def _text_of(code: str) -> str:
    text = _texts(TABLE).get(code)
    return _texts(*rule_files())[code] if text is None else text


def rule_files() -> tuple[Path, ...]:
    """Return the file of the engine and those of the surfaces."""
    # By name, and when one of their codes is rendered: the registry is far above this module.
    return (TABLE, *_of_surfaces(import_module("hanbeon.surfaces.registry").SURFACES))


@functools.cache
def _of_surfaces(surfaces: Iterable[Any]) -> tuple[Path, ...]:
    return tuple(surface.rules for surface in surfaces if surface.rules.exists())


@functools.cache
def _texts(*tables: Path) -> Mapping[str, str]:
    return {code: texts["en"] for code, texts in read_rules(*tables).items()}


def read_rules(*tables: Path) -> dict[str, dict[str, str]]:
    """Return the codes of all these files, each with its text by language. A code is in one of them."""
    found: dict[str, dict[str, str]] = {}
    for table in tables:
        own = json.loads(table.read_bytes())
        if twice := own.keys() & found.keys():
            raise ValueError(f"{table}: rules of another file, too: {', '.join(sorted(twice))}")
        found |= own
    return found


def _rendered(text: str, values: Mapping[str, Any]) -> str:
    def part(found: re.Match[str]) -> str:
        if found[1] is not None:
            return found[2] if values.get(found[1]) in _ABSENT else ""
        return "" if any(values.get(name) in _ABSENT for name, *_ in _VALUE.findall(found[2])) else found[2]

    return _VALUE.sub(functools.partial(_inserted, values), _OPTIONAL.sub(part, text))


def _inserted(values: Mapping[str, Any], found: re.Match[str]) -> str:
    name, thousands, separator = found.groups()
    value = values[name]
    if isinstance(value, list):
        return (", " if separator is None else separator).join(map(str, value))
    return f"{value:,}" if thousands and isinstance(value, int | float) else str(value)
