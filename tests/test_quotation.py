"""Names and values of others in our own text: short, and without control characters."""

import tracemalloc

import pytest

from hanbeon import errors
from hanbeon.errors import HanbeonError, InvalidInput, TaskError
from hanbeon.quotation import nearest, plain, quoted, suggested
from hanbeon.tasks.options import check_names
from hanbeon.zones import zone_of

_HUGE = "x" * 8_000_000


def test_quoted_is_short_and_on_one_line() -> None:
    for value in (_HUGE, _HUGE.encode(), [_HUGE] * 100, {_HUGE: _HUGE}, 10**5_000, -(10**5_000), [[[[[[[1]]]]]]]):
        assert len(quoted(value)) < 500
    assert quoted("a\x1b[31m\n\x9b\u202e\ud800") == r"'a\x1b[31m\n\x9b\u202e\ud800'"
    assert (quoted("name"), quoted(7), quoted(None)) == ("'name'", "7", "None")


def test_plain_cuts_before_it_escapes() -> None:
    assert plain("\x1b" * 10, 3) == r"\x1b\x1b\x1b…"
    assert plain("한번\tx") == r"한번\tx"


def test_huge_names_are_compared_with_none() -> None:
    tracemalloc.start()
    try:
        assert nearest(_HUGE, ["x" * 79]) == []
        assert suggested(_HUGE, ["x"]) is None
        with pytest.raises(InvalidInput) as refused:
            check_names([_HUGE], ["retries"], "a task")
        with pytest.raises(InvalidInput):
            zone_of(_HUGE)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(_HUGE)
    finally:
        tracemalloc.stop()
    assert len(str(refused.value)) < 5_000
    assert len(str(refused.value.field)) < 1_000
    assert nearest("retires", ["retries"]) == ["retries"]


@pytest.mark.parametrize(
    "error",
    [
        *(HanbeonError("\x1b[2J" + _HUGE), InvalidInput("\x1b" + _HUGE, field="\x1b" + _HUGE)),
        *(errors.JobNotFound("\x1b" + _HUGE), errors.UniqueKeyTaken("\x1b" + _HUGE, "id", "ready")),
        errors.ConfigInvalid("\x1b", "\x1b" + _HUGE, "\x1b"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_carry_no_control_characters(error: HanbeonError) -> None:
    assert str(error).isprintable()
    assert len(str(error)) < 5_000
    assert len(error.field or "") < 1_000
    assert (error.field or "").isprintable()


def test_words_of_a_task_are_left_alone() -> None:
    assert str(TaskError("first\nsecond\x1b")) == "first\nsecond\x1b"
