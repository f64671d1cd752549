"""Requests that are nearly valid, as bytes, with something hostile in them: derived from an operation's schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from hanbeon.surfaces.operation import Operation
from hanbeon.surfaces.validation import bare

_NAMES = (
    '"\\u0000"',
    '"\\ud800"',
    '"\\u001b[2J"',
    '"\\u202e"',
    '""',
    '"__proto__"',
    '"id"',
)
_NUMBERS = (
    "1e400",
    "-1e400",
    "1" + "0" * 5_000,
    "-0.0",
    "1e-400",
    "9223372036854775808",
    "1E+99999",
    "NaN",
    "Infinity",
)
_DEEP = (50, 99, 101, 3_000)


def _deep(opening: str, closing: str, levels: int) -> str:
    return opening * levels + "1" + closing * levels


def hostile_values(large: int) -> st.SearchStrategy[str]:
    """JSON texts, some of which are no JSON; strings of up to `large` characters."""
    nested = st.sampled_from(
        [_deep(*brackets, levels) for levels in _DEEP for brackets in (("[", "]"), ('{"a":', "}"))]
    )
    strings = st.sampled_from(
        [
            *_NAMES,
            f'"{"x" * large}"',
            f'"{"1" * large}x"',  # Slow to search for numbers with a unit.
            f'"{chr(127) * (large // 2)}"',
            *('"0001-01-01T00:00:00"', '"9999-12-31T23:59:59-23:59"'),
            *('"한번"', '"\\"', '"\xff', '"\udc80"'),
        ]
    )
    many = st.sampled_from(["[" + "[]," * 3_000 + "1]", "{" + ",".join(f'"{n}":{n}' for n in range(3_000)) + "}"])
    twice = st.just('{"a": 1, "a": 2, "a": {"a": 1, "a": null}}')
    plain = st.sampled_from(["null", "true", "[]", "{}", "0", '"x"', "", "[", "}"])
    return nested | strings | many | twice | plain | st.sampled_from(_NUMBERS)


def bodies(operation: Operation, large: int) -> st.SearchStrategy[bytes]:
    """Bodies for an operation, also for one that takes none."""
    hostile = hostile_values(large)
    texts = hostile
    if operation.request is not None:
        texts = _texts(inspect.type_info(operation.request), hostile, 4) | hostile
    return texts.map(lambda text: text.encode("utf-8", "surrogatepass"))


def queries(operation: Operation) -> st.SearchStrategy[str]:
    """Query strings: known and unknown names, values of any kind, names that come twice."""
    known = list(operation.request.__struct_encode_fields__) if operation.request is not None else []
    names = st.sampled_from([*known, "x" * 5_000, "\x00", "\x1b[2J"])
    values = st.sampled_from(
        ["", "1", "9" * 5_000, "\x00", "\x1b", "1e400", "[[", "x" * 10_000, "-1", "true", "\u202e"]
    )
    pairs = st.lists(st.tuples(names, values), max_size=3)
    return pairs.map(lambda found: "&".join(f"{quote(name)}={quote(value)}" for name, value in found))


def _texts(info: inspect.Type, hostile: st.SearchStrategy[str], depth: int) -> st.SearchStrategy[str]:
    """Texts for a type: as it should be, more often than not, so that the hostile parts get deep inside."""
    info = bare(info)
    if depth == 0:
        return hostile
    if isinstance(info, inspect.StructType):
        return _object(info, hostile, depth)
    if isinstance(info, inspect.ListType):
        item = _texts(info.item_type, hostile, depth - 1)
        return st.lists(item, max_size=2).map(lambda items: f"[{','.join(items)}]")
    if isinstance(info, inspect.DictType):
        value = _texts(info.value_type, hostile, depth - 1)
        names = st.sampled_from([*_NAMES, '"a"', f'"{"n" * 100_000}"'])
        return st.lists(st.tuples(names, value), max_size=2).map(_joined)
    if isinstance(info, inspect.UnionType):
        return st.one_of([_texts(each, hostile, depth) for each in info.types])
    valid = st.sampled_from(_valid(info))
    return valid | valid | hostile


def _object(info: inspect.StructType, hostile: st.SearchStrategy[str], depth: int) -> st.SearchStrategy[str]:
    fields = {each.encode_name: _texts(each.type, hostile, depth - 1) for each in info.fields}
    required = [each.encode_name for each in info.fields if each.required]

    @st.composite
    def made(draw: Any) -> str:
        names = [*required, *draw(st.lists(st.sampled_from(sorted(fields)), max_size=2))] if fields else []
        pairs = [(json.dumps(name), draw(fields[name])) for name in names]  # A name may come twice.
        if draw(st.integers(0, 9)) == 0:
            pairs.append((json.dumps("n" * 200_000), draw(hostile)))
        return _joined(pairs)

    return made()


def _joined(pairs: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}"


def _valid(info: inspect.Type) -> list[str]:
    match info:
        case inspect.IntType() | inspect.FloatType():
            return ["1", "10", "0"]
        case inspect.StrType():
            return ['"quick"', '"0 9 * * *"', '"a"', '"2030-01-31T09:00:00+09:00"']
        case inspect.BoolType():
            return ["true", "false"]
        case inspect.EnumType():
            return [msgspec.json.encode(each.value).decode() for each in info.cls]
        case inspect.LiteralType():
            return [msgspec.json.encode(each).decode() for each in info.values]
        case _:
            return ["null", "{}"]


# Nearly valid bodies: hostile in one place or two, at any depth, and often legal nevertheless.

_LEGAL = (
    *("null", "[]", "{}", "true", "0", "-1", "-0.0", "1e308", "9007199254740993", "2147483647", "1"),
    *(
        '""',
        '"x"',
        '"\\u0000"',
        '"\\ud800"',
        '"\\ud83d\\ude00"',
        '"\\u202e\\u200b"',
        '"한번 \\u00e9\\u0301"',
        '"__proto__"',
    ),
    '"' + "x" * 200 + '"',
    '"' + "한" * 3_000 + '"',
    _deep("[", "]", 40),
    _deep('{"a":', "}", 40),
    '{"a": 1, "a": 2, "": {"a": null}}',
    "[" + "1," * 500 + "1]",
)


def changed_bodies(valid: Any) -> st.SearchStrategy[bytes]:
    """Bodies like a valid one, of which up to two values, members or names are replaced, added, doubled or dropped."""
    places = list(_places(valid))

    @st.composite
    def made(draw: Any) -> bytes:
        changes = draw(st.lists(st.tuples(st.sampled_from(places), _changes()), max_size=2)) if places else []
        text = _written(valid, (), dict(changes))
        return text.encode("utf-8", "surrogatepass")

    return made()


def _changes() -> st.SearchStrategy[tuple[str, str]]:
    legal = st.sampled_from(_LEGAL)
    return st.one_of(
        st.tuples(st.just("replaced"), legal),
        st.tuples(st.just("doubled"), legal),
        st.tuples(st.just("again"), legal),
        st.tuples(st.just("dropped"), legal),
    )


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values within a value, except the whole."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*path, name)
        yield from _places(part, (*path, name))


def _written(value: Any, path: tuple[Any, ...], changes: Mapping[tuple[Any, ...], tuple[str, str]]) -> str:
    """The JSON of a value with its changes."""
    if not isinstance(value, dict | list):
        return json.dumps(value)
    members: list[str] = []
    for name, part in value.items() if isinstance(value, dict) else enumerate(value):
        before = f"{json.dumps(name)}:" if isinstance(value, dict) else ""
        text = before + _written(part, (*path, name), changes)
        how, hostile = changes.get((*path, name), ("", ""))
        members += {
            "": [text],
            "replaced": [before + hostile],
            "doubled": [before + hostile, text],
            "again": [text, text],
            "dropped": [],
        }[how]
    return "{" + ",".join(members) + "}" if isinstance(value, dict) else "[" + ",".join(members) + "]"
