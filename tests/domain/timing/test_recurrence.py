"""Daily, weekly and monthly times as cron text."""

from collections.abc import Callable
from itertools import takewhile

import pytest

from hanbeon.domain.timing.fire_times import Timing
from hanbeon.domain.timing.recurrence import daily, monthly, weekly
from hanbeon.errors import InvalidInput
from tests.domain.timing.instants import at, first, iso

SEOUL = "Asia/Seoul"


def test_days_and_weeks() -> None:
    assert daily("09:00") == "0 9 * * *"
    assert daily("9:05") == "5 9 * * *"
    assert daily("23:59:30") == "30 59 23 * * *"
    assert weekly(["MON"], "09:00") == "0 9 * * MON"
    assert weekly(["sun", "Wednesday", "MON", "mon"], "17:30") == "30 17 * * MON,WED,SUN"
    assert first(Timing(cron=weekly(["SUN", "MON"], "09:00"), timezone=SEOUL), "2026-01-01", 3) == [
        "2026-01-04T09:00:00+09:00",
        "2026-01-05T09:00:00+09:00",
        "2026-01-11T09:00:00+09:00",
    ]


LAST = {1: 31, 2: 28, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}


@pytest.mark.parametrize("time", ["09:00", "09:00:30"])
@pytest.mark.parametrize("day", range(1, 32))
def test_monthly_uses_the_last_day_of_short_months(day: int, time: str) -> None:
    timing = Timing(cron=monthly(day, time), timezone=SEOUL)
    begin, end = at("2027-01-01", SEOUL), at("2029-01-01", SEOUL)
    fires = [iso(fire.at, SEOUL)[:10] for fire in takewhile(lambda fire: fire.at < end, timing.fires(begin))]
    assert fires == [
        f"{year}-{month:02}-{min(day, 29 if (year, month) == (2028, 2) else last):02}"
        for year in (2027, 2028)
        for month, last in LAST.items()
    ]


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: daily("24:00"), "time"),
        (lambda: daily("9"), "time"),
        (lambda: daily("09:60"), "time"),
        (lambda: daily("٠٩:٠٠"), "time"),
        (lambda: daily("09:00\n"), "time"),
        (lambda: weekly([], "09:00"), "weekdays"),
        (lambda: weekly("MON", "09:00"), "weekdays"),
        (lambda: weekly(["FRY"], "09:00"), "weekdays"),
        (lambda: weekly(["MONTAG"], "09:00"), "weekdays"),
        (lambda: weekly(["MON"], ""), "time"),
        (lambda: monthly(0, "09:00"), "day"),
        (lambda: monthly(32, "09:00"), "day"),
        (lambda: monthly(31, "noon"), "time"),
    ],
)
def test_rejects_invalid_recurrence_with_its_field(make: Callable[[], str], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        make()
    assert refused.value.field == field
