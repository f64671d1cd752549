"""Options by name: the kinds are read from the annotations, and a wrong word finds its nearest neighbour."""

import datetime as dt
from typing import Any

import pytest

from hanbeon.errors import InvalidInput
from hanbeon.tasks.options import check_kinds, check_names, duration_us, kinds_of, size_bytes
from hanbeon.tasks.request import OPTIONS, JobOptions
from hanbeon.tasks.task import TaskOptions


class Options:
    number: int
    share: float | None
    word: str
    many: tuple[str, ...]
    when: dt.datetime | None
    on: bool


KINDS = kinds_of(Options)


def test_kinds_are_read_from_annotations() -> None:
    none = type(None)
    assert kinds_of(Options) == {
        "number": (int,),
        "share": (float, none),
        "word": (str,),
        "many": (tuple,),
        "when": (dt.datetime, none),
        "on": (bool,),
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [("number", 1), ("share", 1.5), ("share", 1), ("share", None), ("many", ("a",)), ("on", True), ("word", "")],
)
def test_accepts_valid_options(field: str, value: Any) -> None:
    check_kinds(KINDS, {field: value})


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("number", 1.0, "an integer"),
        ("number", True, "an integer"),
        ("number", "1", "an integer"),
        ("number", None, "an integer"),
        ("share", "1", "a number or None"),
        ("share", False, "a number or None"),
        ("word", b"a", "text"),
        ("many", ["a"], "a tuple"),
        ("when", dt.date(2026, 1, 1), "a datetime or None"),
        ("on", 1, "True or False"),
    ],
)
def test_rejects_invalid_options(field: str, value: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: must be {words}, got ") as caught:
        check_kinds(KINDS, {field: value})
    assert caught.value.field == field


def test_a_huge_value_is_not_shown_whole() -> None:
    with pytest.raises(InvalidInput) as caught:
        check_kinds(KINDS, {"number": "x" * 100_000})
    assert len(str(caught.value)) < 200


def test_names() -> None:
    check_names(["lease"], ["lease", "poll"], "an App")
    with pytest.raises(
        InvalidInput, match=r"^pol: an App has no such option; did you mean 'poll'\? There are lease, poll$"
    ):
        check_names(["pol"], ["poll", "lease"], "an App")
    with pytest.raises(InvalidInput, match=r"^zzz: an App has no such option\. There are lease, poll$"):
        check_names(["zzz"], ["poll", "lease"], "an App")


@pytest.mark.parametrize(
    ("duration", "micros"), [(1, 1_000_000), (0.5, 500_000), (-1, -1_000_000), (dt.timedelta(milliseconds=1), 1_000)]
)
def test_durations(duration: float | dt.timedelta, micros: int) -> None:
    assert duration_us(duration, "delay") == micros


@pytest.mark.parametrize("duration", [float("nan"), float("inf"), 1e20])
def test_rejects_times_out_of_range(duration: float) -> None:
    with pytest.raises(InvalidInput, match=r"^timeout: must be at most a hundred years in seconds, got "):
        duration_us(duration, "timeout")


def test_every_option_has_types_that_can_be_checked() -> None:
    for owner in (JobOptions, TaskOptions):
        for field, kinds in kinds_of(owner).items():
            assert all(isinstance(kind, type) for kind in kinds), field
    assert {"queue", "priority", "depends_on", "id"} <= OPTIONS


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (100_000_000, 100_000_000),
        ("100000000B", 100_000_000),
        ("512MB", 512_000_000),
        ("512 mb", 512_000_000),
        ("512MiB", 512 * 1024**2),
        ("1.5GB", 1_500_000_000),
        ("2GiB", 2 * 1024**3),
    ],
)
def test_sizes(given: int | str, expected: int) -> None:
    assert size_bytes(given, "memory") == expected


@pytest.mark.parametrize("given", ["", "512", "MB", "-1GB", "1XB", "0.01kB", "9999999999TB", 0, -1, 2**63])
def test_rejects_invalid_sizes(given: int | str) -> None:
    with pytest.raises(InvalidInput, match=r"^memory: "):
        size_bytes(given, "memory")


def test_options_know_which_of_them_somebody_chose() -> None:
    options = TaskOptions.of("t", {"retries": 3, "timeout": "5m"})
    assert options.chosen == {"retries": 3, "timeout": 300.0}
    assert [options.says(name) for name in ("retries", "timeout", "backoff")] == [True, True, False]
    assert TaskOptions.of("t", {}) == TaskOptions()
    assert not TaskOptions().says("retries")
    again = TaskOptions.of("t", options.chosen | {"backoff": "linear"})
    assert again.says("retries")
    assert again.says("backoff")
