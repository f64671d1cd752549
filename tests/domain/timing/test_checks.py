"""Which timings are refused, by which field, and with what to write instead."""

import msgspec
import pytest

from hanbeon.domain.timing.checks import check_timing
from hanbeon.domain.timing.fire_times import LONGEST_JITTER_US, ClockFold, ClockGap, Timing
from hanbeon.errors import InvalidInput
from tests.domain.timing.instants import DAY, HOUR, MINUTE, at

SEOUL = "Asia/Seoul"
NOW = at("2026-01-05 12:00", SEOUL)
DAILY = Timing(cron="0 9 * * *", timezone=SEOUL)
ONCE = Timing(run_at=NOW + HOUR, timezone=SEOUL)


@pytest.mark.parametrize(
    "timing",
    [
        DAILY,
        ONCE,
        msgspec.structs.replace(DAILY, starts_at=NOW - DAY, ends_at=NOW + DAY, jitter_us=LONGEST_JITTER_US),
        msgspec.structs.replace(DAILY, gap=ClockGap.SKIP, fold=ClockFold.BOTH),
        msgspec.structs.replace(ONCE, run_at=NOW + 1, jitter_us=MINUTE),
        Timing(cron="0 9 30 1,3-12 * | 0 9 L 2 *", timezone="America/New_York"),
        Timing(cron="* * * * * *", timezone="UTC", starts_at=NOW + 1000 * DAY, ends_at=NOW + 1000 * DAY),
    ],
)
def test_check_timing_accepts_valid_timings(timing: Timing) -> None:
    check_timing(timing, NOW)


@pytest.mark.parametrize(
    ("timing", "field", "said"),
    [
        (
            Timing(timezone=SEOUL),
            "cron",
            '"0 9 * * MON-FRI", unless every is, for example "90m", or run_at, for example "2026-01-05T14:00:00+09:00"',
        ),
        (msgspec.structs.replace(DAILY, run_at=NOW + HOUR), "run_at", "must not be combined with cron"),
        (msgspec.structs.replace(DAILY, timezone="Asia/Soul"), "timezone", "Asia/Seoul"),
        (msgspec.structs.replace(DAILY, cron="0 0 30 2 *"), "cron", "never fires"),
        (msgspec.structs.replace(DAILY, cron=""), "cron", "5 fields"),
        (msgspec.structs.replace(ONCE, run_at=NOW - HOUR), "run_at", "must be in the future"),
        (msgspec.structs.replace(ONCE, run_at=NOW), "run_at", "for example 2026-01-05T14:00:00+09:00"),
        (msgspec.structs.replace(ONCE, run_at=2**62), "run_at", "1870 to 9999"),
        (msgspec.structs.replace(ONCE, starts_at=NOW + DAY), "run_at", "must be between starts_at and ends_at"),
        (msgspec.structs.replace(ONCE, gap=ClockGap.SKIP), "gap", "must not be combined with run_at"),
        (msgspec.structs.replace(ONCE, fold=ClockFold.BOTH), "fold", "must not be combined with run_at"),
        (msgspec.structs.replace(DAILY, starts_at=-(2**62)), "starts_at", "1870 to 9999"),
        (msgspec.structs.replace(DAILY, starts_at=NOW + DAY, ends_at=NOW), "ends_at", "must not be before starts_at"),
        (msgspec.structs.replace(DAILY, ends_at=NOW - 1), "ends_at", "never does until"),
        (msgspec.structs.replace(DAILY, starts_at=NOW, ends_at=NOW + HOUR), "ends_at", "choose another"),
        (msgspec.structs.replace(DAILY, starts_at=at("9999-12-31T23:59:59+00:00")), "starts_at", "never does before"),
        (msgspec.structs.replace(DAILY, jitter_us=-1), "jitter", "0 (none) to 86400 seconds"),
        (msgspec.structs.replace(DAILY, jitter_us=LONGEST_JITTER_US + 1), "jitter", "0 (none) to 86400 seconds"),
    ],
)
def test_check_timing_names_the_first_invalid_field(timing: Timing, field: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_timing(timing, NOW)
    assert refused.value.field == field
    assert said in str(refused.value)


@pytest.mark.parametrize("end", ["9999-12-31T23:59:59+00:00", "1890-01-01T00:00:00+00:00"])
def test_messages_can_show_the_ends_of_the_calendar(end: str) -> None:
    with pytest.raises(InvalidInput, match="ends_at"):
        check_timing(Timing(cron="0 9 * * *", timezone=SEOUL, starts_at=at(end), ends_at=at(end) - 1), NOW)
