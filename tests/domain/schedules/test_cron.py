"""What a cron text may say, and how it is told that it may not."""

import datetime as dt

import pytest

from hanbeon.domain.schedules.cron import LONGEST_TEXT, MOST_EXPRESSIONS, parse
from hanbeon.errors import InvalidInput

START = dt.datetime(2026, 1, 1)  # A Thursday.


def walls(text: str, count: int, start: dt.datetime = START) -> list[str]:
    (expression,) = parse(text)
    found, wall = [], start
    for _ in range(count):
        following = expression.next_wall(wall)
        assert following is not None
        wall = following
        found.append(wall.isoformat(" ", "auto" if wall.second else "minutes"))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/20 * * * *", ["2026-01-01 00:20", "2026-01-01 00:40", "2026-01-01 01:00"]),
        ("5/20 9 * * *", ["2026-01-01 09:05", "2026-01-01 09:25", "2026-01-01 09:45"]),
        ("0 9-17/4 * * *", ["2026-01-01 09:00", "2026-01-01 13:00", "2026-01-01 17:00"]),
        ("5-05/20,40-40/2 9 * * *", ["2026-01-01 09:05", "2026-01-01 09:40", "2026-01-02 09:05"]),
        ("0 9 * * MON-MON/2", ["2026-01-05 09:00", "2026-01-12 09:00"]),
        ("0 9,12 * * *", ["2026-01-01 09:00", "2026-01-01 12:00", "2026-01-02 09:00"]),
        ("*/25 59 23 * * *", ["2026-01-01 23:59", "2026-01-01 23:59:25", "2026-01-01 23:59:50"]),
        ("0 9 * * MON-FRI", ["2026-01-01 09:00", "2026-01-02 09:00", "2026-01-05 09:00"]),
        ("0 9 * * sat,7", ["2026-01-03 09:00", "2026-01-04 09:00", "2026-01-10 09:00"]),
        ("0 9 ? * MON", ["2026-01-05 09:00", "2026-01-12 09:00", "2026-01-19 09:00"]),
        ("0 0 9 1 * ?", ["2026-01-01 09:00", "2026-02-01 09:00", "2026-03-01 09:00"]),
        ("0 0 * JAN,jul MON#1", ["2026-01-05 00:00", "2026-07-06 00:00", "2027-01-04 00:00"]),
        ("0 0 L * *", ["2026-01-31 00:00", "2026-02-28 00:00", "2026-03-31 00:00"]),
        ("0 0 LW * *", ["2026-01-30 00:00", "2026-02-27 00:00", "2026-03-31 00:00"]),
        ("0 0 * * 5L", ["2026-01-30 00:00", "2026-02-27 00:00", "2026-03-27 00:00"]),
        ("0 0 * * FRI#5", ["2026-01-30 00:00", "2026-05-29 00:00", "2026-07-31 00:00"]),
        ("0 0 29 2 *", ["2028-02-29 00:00", "2032-02-29 00:00", "2036-02-29 00:00"]),
        ("0 0 * 2 MON#5", ["2044-02-29 00:00", "2072-02-29 00:00", "2112-02-29 00:00"]),
        # Both days restricted: either. A field that begins with * does not count as restricted.
        ("0 0 13 * FRI", ["2026-01-02 00:00", "2026-01-09 00:00", "2026-01-13 00:00"]),
        ("0 0 */2 * FRI", ["2026-01-09 00:00", "2026-01-23 00:00", "2026-02-13 00:00"]),
        ("@yearly", ["2027-01-01 00:00", "2028-01-01 00:00"]),
        ("@annually", ["2027-01-01 00:00", "2028-01-01 00:00"]),
        ("@monthly", ["2026-02-01 00:00", "2026-03-01 00:00"]),
        ("@weekly", ["2026-01-04 00:00", "2026-01-11 00:00"]),
        ("@daily", ["2026-01-02 00:00", "2026-01-03 00:00"]),
        ("@Midnight", ["2026-01-02 00:00", "2026-01-03 00:00"]),
        (" @hourly ", ["2026-01-01 01:00", "2026-01-01 02:00"]),
        ("\t0  9\n* * *", ["2026-01-01 09:00", "2026-01-02 09:00"]),
        ("*/60 */24 * * *", ["2026-01-02 00:00", "2026-01-03 00:00"]),
    ],
)
def test_the_wall_times_of_an_expression(text: str, expected: list[str]) -> None:
    assert walls(text, len(expected)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "5 fields"),
        ("   ", "an empty text has none"),
        ("* * * *", "these are 4"),
        ("0 0 9 * * MON 2027", "no field for years"),
        ("60 * * * *", "minute: '60' does not fit: 60 is not among 0–59; write 0–59, for example 0, */15"),
        ("60 0 0 * * *", "second: '60'"),
        ("0 24 * * *", "hour: '24'"),
        ("0 0 0 * *", "day of month: '0' does not fit: 0 is not among 1–31"),
        ("0 0 32 * *", "day of month: '32'"),
        ("0 0 1 13 *", "month: '13' does not fit: 13 is not among 1–12"),
        ("0 0 1 JANUARY *", "did you mean JAN?"),
        ("0 0 * * 8", "weekday: '8' does not fit"),
        ("0 0 * * FRY", "did you mean FRI?"),
        ("0 0 * * XQZ", "'XQZ' is no name"),
        ("*/0 * * * *", "minute: '*/0' does not fit: a step of 0"),
        ("*/90 * * * *", "a step of 90 is longer than the 60 there are"),
        ("0 0 * * */8", "a step of 8 is longer than the 7 there are"),
        ("*/0.5 * * * * *", "the shortest interval is one second"),
        ("*/.5 * * * * *", "the shortest interval is one second"),
        ("*/x * * * *", "the step 'X' is not a whole number"),
        ("*/ * * * *", "the step '' is not a whole number"),
        ("/5 * * * *", "something is missing"),
        ("5- * * * *", "something is missing"),
        ("-5 * * * *", "something is missing"),
        ("30-10 * * * *", "the range ends before it begins (for one that goes round, write 0-10,30-59)"),
        ("0 0 * * FRI-MON", "write SUN-MON,FRI-SAT"),
        ("1,,2 * * * *", "a term is empty"),
        ("1,61 * * * *", "minute: '61'"),
        ("? * * * *", "? stands alone, for a day of month or a weekday"),
        ("0 0 ?/2 * *", "? stands alone"),
        ("0 0 L/2 * *", "a step needs *, a number or a range"),
        ("0 0 * * 5L/2", "a step needs"),
        ("0 0 * * MON#2/2", "a step needs"),
        ("0 0 * * MON#6", "after # comes 1 to 5"),
        ("0 0 * * MON#", "after # comes 1 to 5"),
        ("0 0 * * MON-WED#2", "before # comes one weekday"),
        ("0 0 1#2 * *", "# belongs to a weekday"),
        ("0 0 15W * *", "15W means nothing there"),
        ("0 0 L-3 * *", "L-3 means nothing there"),
        ("0 0 * * L", "L means nothing there"),
        ("0 0 * * FRIL", "the last FRI is written 5L"),
        ("L * * * *", "L means nothing there"),
        ("0 0 30 2 *", "never fires"),
        ("0 0 31 2,4,6,9,11 *", "never fires"),
        ("0 0 */31 * MON#2", "never fires"),
        ("@every 5m", "write */5 * * * *"),
        ("@every 100ms", "one is the shortest interval"),
        ("@reboot", "run the task by hand"),
        ("@fortnightly", "use @annually, @daily"),
        ("@daily 5", "'@daily 5' is not known"),
        ("매일 9시", "the character '매' at place 1"),
        ("0 9 * * FRı", "the character 'ı' at place 11"),
        ("٣ 9 * * *", "has no meaning"),
        ("0 9 * * *\x00", "the character '\\x00' at place 10"),
        ("0 9 * * *\x7f", "has no meaning"),
        ("1" * 4_000 + " * * * *", f"more than {LONGEST_TEXT}"),
        ("1" * 400 + " * * * *", "minute: "),
        ("*/" + "9" * 400 + " * * * *", "a step of "),
        ("0 9 * * * |", "an empty text has none"),
        (" | ".join(["0 9 * * *"] * (MOST_EXPRESSIONS + 1)), "make several schedules"),
        ("0 9 * * * | 0 25 * * *", "hour: '25'"),
        ("0 9 * * * ; rm -rf /", "these are 9"),
        ("a b c d e", "minute: 'A' does not fit: it is no number"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place_and_what_would(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(text)
    assert refused.value.field == "cron"
    assert said in str(refused.value)
    assert len(str(refused.value)) < 1_000


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("30 2 * * *", True),
        ("0-59 2 * * *", True),
        ("30 0-23 * * *", True),
        ("* 30 2 * * *", True),
        ("*/5 2 * * *", False),
        ("30 * * * *", False),
        ("30 */2 * * *", False),
        ("@hourly", False),
        ("@daily", True),
    ],
)
def test_times_of_day_are_told_from_rhythms_by_the_star(text: str, fixed: bool) -> None:
    (expression,) = parse(text)
    assert expression.fixed is fixed


def test_the_calendar_ends_with_the_year_9999() -> None:
    (daily,) = parse("0 9 * * *")
    assert daily.next_wall(dt.datetime(9999, 12, 31, 8)) == dt.datetime(9999, 12, 31, 9)
    assert daily.next_wall(dt.datetime(9999, 12, 31, 9)) is None
    assert daily.next_wall(dt.datetime.max) is None
    (leap,) = parse("0 0 29 2 *")
    assert leap.next_wall(dt.datetime(9996, 2, 29)) is None


def test_what_was_parsed_is_kept_within_a_limit() -> None:
    assert parse("0 9 * * *") is parse("0 9 * * *")
    assert parse.cache_info().maxsize is not None
