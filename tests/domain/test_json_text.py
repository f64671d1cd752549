"""JSON text that is stored can be read back by everyone, and text from outside is bounded before it is decoded."""

import datetime as dt
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.json_text import (
    CONTAINERS_LIMIT,
    DEPTH_LIMIT,
    MEMBERS_LIMIT,
    BoundsCheck,
    check_depth,
    depth,
    to_json_text,
)
from hanbeon.errors import InvalidInput, NotSerialisable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just('["\\{'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def depth_of_value(value: Any) -> int:
    if isinstance(value, dict | list):
        return 1 + max(map(depth_of_value, value.values() if isinstance(value, dict) else value), default=0)
    return 0


@given(JSON)
def test_depth_counts_what_is_nested(value: Any) -> None:
    assert depth(json.dumps(value)) == depth(msgspec.json.encode(value)) == depth_of_value(value)


@given(st.binary() | st.text())
def test_depth_takes_what_is_no_json(text: str | bytes) -> None:
    depth(text)


@pytest.mark.parametrize("text", ["[" * 500_000, '"' + '\\"' * 500_000, '{"a":' * 200_000, "[]" * 500_000])
def test_check_depth_is_quick_and_does_not_recurse(text: str) -> None:
    for each in (text, text.encode()):
        if depth(each) > DEPTH_LIMIT:
            with pytest.raises(InvalidInput, match="x: must be nested at most 100 deep, got"):
                check_depth(each, "x")
        else:
            check_depth(each)


@given(JSON, st.integers(1, 9))
def test_bounds_check_agrees_whatever_the_parts(value: Any, size: int) -> None:
    for text in (json.dumps(value).encode(), json.dumps(value, ensure_ascii=False).encode(errors="replace")):
        around = DEPTH_LIMIT - depth_of_value(value)
        _feed(b"[" * around + text + b"]" * around, size)
        with pytest.raises(InvalidInput, match="x: must be nested at most 100 deep"):
            _feed(b"[" * (around + 1) + text + b"]" * (around + 1), size)


def test_bounds_check_counts_arrays_and_objects() -> None:
    check = BoundsCheck("x")
    for _ in range(CONTAINERS_LIMIT // 2_000):
        check.feed(b'[],{"[": "]"},' * 1_000)
    with pytest.raises(InvalidInput, match="x: must contain at most 200,000 arrays and objects"):
        check.feed(b"[]")


def test_bounds_check_counts_elements_and_members() -> None:
    check = BoundsCheck("x")
    check.feed(b"[" + b'1,"a,b,c",' * (MEMBERS_LIMIT // 2 - 1))
    check.feed(b"1]")
    with pytest.raises(InvalidInput, match="x: must contain at most 550,000 elements and members"):
        check.feed(b",1,1")


def test_bounds_check_accepts_the_largest_batch() -> None:
    edges = [f"j{number}" for number in range(20)]
    job = {"key": "j1", "task_id": "t", "args": {"a": [1, 2], "b": {"c": 1}}, "priority": 1, "max_retries": 2}
    _feed(json.dumps({"jobs": [job | {"depends_on": edges}] * 10_000}).encode(), 65_536)


def _feed(text: bytes, size: int) -> None:
    check = BoundsCheck("x")
    for at in range(0, len(text), size):
        check.feed(text[at : at + size])


def test_values_are_nested_up_to_the_limit() -> None:
    assert to_json_text(nested(DEPTH_LIMIT), "it", "args") == "[" * DEPTH_LIMIT + "1" + "]" * DEPTH_LIMIT
    for levels in (DEPTH_LIMIT + 1, 970, 980, 5_000):
        with pytest.raises(InvalidInput, match=r"args: .*(nested at most 100 deep|recursion depth)"):
            to_json_text(nested(levels), "it", "args")


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        [None, float("inf")],
        {"a": {"b": -float("inf")}},
        10**5_000,
        "\ud800",
        {"\udfff": 1},
        msgspec.Raw(b"[["),
        [msgspec.Raw(b"1e400")],
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rejects_values_that_json_lacks(value: Any) -> None:
    with pytest.raises(NotSerialisable, match=r"result: it cannot be encoded as JSON: .+; pass plain data"):
        to_json_text(value, "it", "result")


def test_null_and_nul_are_json() -> None:
    value = [None, {"a": None}, "nul \x00", 10**400, msgspec.Raw(b"null")]
    assert json.loads(to_json_text(value, "it", "result")) == [None, {"a": None}, "nul \x00", 10**400, None]


class Unshowable(Exception):
    def __str__(self) -> str:
        raise KeyError


class OddZone(dt.tzinfo):
    def utcoffset(self, moment: dt.datetime | None) -> dt.timedelta:
        raise Unshowable

    def dst(self, moment: dt.datetime | None) -> None:
        return None

    def tzname(self, moment: dt.datetime | None) -> str:
        return "odd"


def test_errors_of_the_value_itself_are_refusals() -> None:
    with pytest.raises(NotSerialisable, match="cannot be encoded as JSON: Unshowable;"):
        to_json_text([dt.datetime(2026, 1, 1, tzinfo=OddZone())], "it", "result")
