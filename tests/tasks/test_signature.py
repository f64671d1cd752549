"""Arguments become JSON and come back as what they were; invalid ones are rejected when the job is created."""

import dataclasses
import datetime as dt
import decimal
import enum
import typing
import uuid
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon import Context
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import ArgumentsDoNotFit, TaskDefinitionError
from hanbeon.tasks.signature import TaskSignature


class Point(msgspec.Struct):
    x: int


class Pair(typing.TypedDict):
    a: int


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    next: "Node | None" = None


class Size(enum.IntEnum):
    SMALL = 1


def signature(function: Any) -> TaskSignature:
    return TaskSignature("work", function, (Context,))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, 2**62),
        (float, 1.5),
        (float, 1),
        (bool, True),
        (str, "한번 \x00 '\""),
        (bytes, b"\x00\xff"),
        (dt.datetime, dt.datetime(2026, 1, 1, 12, 30, 1, 5, tzinfo=dt.UTC)),
        (dt.datetime, dt.datetime(2026, 1, 1)),
        (dt.date, dt.date(2026, 1, 1)),
        (dt.time, dt.time(1, 2, 3)),
        (dt.timedelta, dt.timedelta(days=1, microseconds=3)),
        (decimal.Decimal, decimal.Decimal("1.10")),
        (uuid.UUID, uuid.UUID(int=7)),
        (Size, Size.SMALL),
        (Point, Point(3)),
        (Pair, {"a": 1}),
        (Node, Node("a", Node("b"))),
        (list[Node], [Node("a")]),
        (dict[int, str], {1: "a"}),
        (set[int], {1, 2}),
        (tuple[int, str], (1, "a")),
        (int | None, None),
        (Literal["a", "b"], "b"),
        (Any, [1, {"a": None}]),
    ],
    ids=str,
)
def test_values_come_back_as_they_were(kind: Any, value: Any) -> None:
    def work(value: Any) -> None: ...

    work.__annotations__["value"] = kind
    packed = signature(work).pack((value,), {})
    assert signature(work).unpack(packed) == {"value": value}


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists))
def test_plain_data_travels_unchanged(value: Any) -> None:
    def work(value: Any) -> None: ...

    try:
        text = to_json_text(value, "it", "args")
    except Exception:  # Half a character: refused, and tested elsewhere.
        return
    assert signature(work).unpack(f'{{"value":{text}}}') == {"value": value}


def test_only_what_was_given_travels() -> None:
    def work(a: int, b: str = "x", *, c: bool = False) -> None: ...

    described = signature(work)
    assert described.pack((1,), {}) == '{"a":1}'
    assert described.pack((1,), {"c": True}) == '{"a":1,"c":true}'
    assert described.unpack('{"a":1}') == {"a": 1}


def test_the_context_is_no_parameter() -> None:
    async def work(ctx: Context, a: int) -> None: ...

    described = signature(work)
    assert described.context_type is Context
    assert described.pack((1,), {}) == '{"a":1}'
    with pytest.raises(ArgumentsDoNotFit, match=r"it takes \(a: int\)"):
        described.pack((), {"ctx": 1, "a": 1})


def test_a_parameter_that_is_only_called_ctx_is_a_parameter() -> None:
    def work(ctx: int) -> None: ...

    assert signature(work).pack((1,), {}) == '{"ctx":1}'


def test_arguments_of_an_older_release_are_read_or_refused() -> None:
    def work(a: int, new: str = "default") -> None: ...

    assert signature(work).unpack('{"a":1}') == {"a": 1}
    with pytest.raises(ArgumentsDoNotFit, match="unknown field `gone`"):
        signature(work).unpack('{"a":1,"gone":2}')


def test_results_are_read_in_their_type_or_as_plain_json() -> None:
    def work() -> Node: ...  # type: ignore[empty-body]

    described = signature(work)
    assert described.read_result('{"name":"a"}') == Node("a")
    assert described.read_result('{"other":1}') == {"other": 1}


def test_a_type_that_json_cannot_tell_apart_is_refused() -> None:
    def work(a: Point | Node) -> None: ...

    with pytest.raises(TaskDefinitionError, match="task 'work': a parameter's type cannot travel as JSON"):
        signature(work)


def test_keyword_only_parameters_are_not_taken_by_position() -> None:
    def work(*, a: int, b: int) -> None: ...

    with pytest.raises(ArgumentsDoNotFit):
        signature(work).pack((1, 2), {})
    assert signature(work).pack((), {"b": 2, "a": 1}) == '{"a":1,"b":2}'
