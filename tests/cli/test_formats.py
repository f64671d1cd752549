"""Parsing and formatting of durations and instants."""

from zoneinfo import ZoneInfo

import pytest

from hanbeon.cli.output import brief
from hanbeon.clock import iso, seconds_of
from hanbeon.domain.job import LAST_INSTANT_US
from hanbeon.errors import InvalidInput

SEOUL = ZoneInfo("Asia/Seoul")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5", 1.5), ("90s", 90), ("250ms", 0.25), ("1h30m", 5400), ("1h 30m", 5400), ("30d", 2_592_000)],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert seconds_of(text, "window") == seconds


@pytest.mark.parametrize(
    "text", ["", "soon", "-5m", "5 minutes", "5m!", "m", "1e9", "٣s", "nan", "1" * 2_000_000 + "x"]
)
def test_rejects_invalid_durations(text: str) -> None:
    with pytest.raises(InvalidInput, match="must be a duration"):
        seconds_of(text, "window")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (-1.0, "0ms"),
        (0.0004, "0ms"),
        (0.34, "340ms"),
        (0.9999, "1.0s"),
        (59.94, "59.9s"),
        (59.99, "1m00s"),
        (185, "3m05s"),
        (15_120, "4h12m"),
        (183_600, "2d03h"),
    ],
)
def test_a_duration_is_written_in_two_units(seconds: float | None, text: str) -> None:
    assert brief(seconds) == text


def test_instants_are_shown_in_the_zone() -> None:
    assert iso(0, SEOUL) == "1970-01-01T09:00:00.000000+09:00"
    assert iso(None, SEOUL) is None
    assert iso(LAST_INSTANT_US, SEOUL) == "9999-12-31T23:59:59.999999+00:00"
