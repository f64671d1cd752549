"""Options by name, of tasks and of jobs: a name that is not one of them and a value of the wrong kind are refused."""

from __future__ import annotations

import datetime as dt
import difflib
import re
import reprlib
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hanbeon.domain.job import LONGEST_US
from hanbeon.errors import InvalidInput

Kinds = dict[str, tuple[type, ...]]
_WORDS = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a tuple",
    dt.datetime: "a datetime",
    dt.timedelta: "a timedelta",
    type(None): "None",
}


def kinds_of(owner: type) -> Kinds:
    """Which types the fields of a class take, read from its annotations."""
    return {name: _kinds(hint) for name, hint in typing.get_type_hints(owner).items()}


def _kinds(hint: Any) -> tuple[type, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(kind for each in typing.get_args(hint) for kind in _kinds(each))
    return (typing.get_origin(hint) or hint,)


def check_kinds(kinds: Kinds, values: Mapping[str, Any]) -> None:
    """Refuse the first value whose type does not fit its field."""
    for field, value in values.items():
        if not _fits(value, kinds[field]):
            words = " or ".join(_WORDS.get(kind, kind.__name__) for kind in kinds[field])
            raise InvalidInput(f"{reprlib.repr(value)} does not fit; use {words}", field=field)


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, bool):  # To Python it is a whole number too; a priority of True is a slip.
        return bool in kinds
    return isinstance(value, kinds) or (isinstance(value, int) and float in kinds)


def check_names(given: Iterable[str], known: Collection[str], owner: str) -> None:
    """Refuse the first name that is not known, with the nearest one that is."""
    for name in given:
        if name not in known:
            raise InvalidInput(
                f"{owner} has no such option{did_you_mean(name, known) or '.'} There are {', '.join(sorted(known))}",
                field=name,
            )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def texts(told: Any, field: str) -> tuple[str, ...]:
    """A list of texts, as a tuple."""
    if isinstance(told, list | tuple) and all(isinstance(each, str) for each in told):
        return tuple(told)
    raise InvalidInput(f"{reprlib.repr(told)} does not fit; use a list of texts", field=field)


def named_texts(told: Any, field: str) -> dict[str, str]:
    """A table of texts by name. What is in it may be secret: a refusal names names only."""
    if not isinstance(told, Mapping):
        raise InvalidInput("use a table of texts by name", field=field)
    for name, it in told.items():
        if not isinstance(name, str) or not isinstance(it, str):
            raise InvalidInput("use text", field=f"{field}.{name}")
    return dict(told)


def types_by_name(told: Any, field: str) -> Mapping[str, Any]:
    """What is declared of a task's parameters."""
    if not isinstance(told, Mapping):
        raise InvalidInput('use a table of types by name, like {target = "string"}', field=field)
    return told


def switch(told: Any, field: str) -> bool:
    if not isinstance(told, bool):
        raise InvalidInput(f"{reprlib.repr(told)} does not fit; use true or false", field=field)
    return told


def one_of(told: Any, choices: Collection[str], field: str) -> str:
    if told in choices:
        return str(told)
    raise InvalidInput(f"{reprlib.repr(told)} is not one of {', '.join(choices)}", field=field)


def duration_us(duration: float | dt.timedelta, field: str) -> int:
    """A duration in microseconds; what no clock can count is refused."""
    if isinstance(duration, dt.timedelta):
        return duration // dt.timedelta(microseconds=1)
    if not abs(duration) * 1_000_000 <= LONGEST_US:  # Also refuses NaN.
        raise InvalidInput(f"{duration} seconds are no duration; use a number, at most a hundred years", field=field)
    return round(duration * 1_000_000)


_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kMGT]?)(i?)B", re.IGNORECASE)
_SMALLEST = 64 * 1024**2


def size_bytes(size: int | str, field: str) -> int:
    """Bytes; as text with a unit: "512MB" or "512MiB"."""
    if isinstance(size, str):
        match = _SIZE.fullmatch(size.strip())
        if match is None:
            raise InvalidInput(f"{size!r} is no size; use bytes, or text like '512MB' or '2GiB'", field=field)
        number, prefix, binary = match.groups()
        size = int(float(number) * (1024 if binary else 1000) ** " KMGT".index(prefix.upper() or " "))
    if not _SMALLEST <= size < 2**63:
        raise InvalidInput(f"{size:,} bytes are too few or too many; Python itself wants 64 MiB", field=field)
    return size
