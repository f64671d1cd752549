"""Cron texts: accepted forms, and the errors for invalid ones."""

import datetime as dt

import pytest

from hanbeon.domain.timing.cron import LONGEST_TEXT, MOST_EXPRESSIONS, parse
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
        ("   ", "got none"),
        ("* * * *", "got 4;"),
        ("0 0 9 * * MON 2027", "no field for years"),
        ("60 * * * *", "minute must be 0–59, for example 0, */15 or 0,30, got '60': 60 is not among 0–59"),
        ("60 0 0 * * *", "second must be 0–59"),
        ("0 24 * * *", "hour must be 0–23"),
        ("0 0 0 * *", "got '0': 0 is not among 1–31"),
        ("0 0 32 * *", "day of month must be 1–31"),
        ("0 0 1 13 *", "got '13': 13 is not among 1–12"),
        ("0 0 1 JANUARY *", "did you mean JAN?"),
        ("0 0 * * 8", "weekday must be 0–7"),
        ("0 0 * * FRY", "did you mean FRI?"),
        ("0 0 * * XQZ", "unknown name 'XQZ'"),
        ("*/0 * * * *", "got '*/0': a step of 0"),
        ("*/90 * * * *", "a step of 90 is longer than the 60 values of the field"),
        ("0 0 * * */8", "a step of 8 is longer than the 7 values of the field"),
        ("*/0.5 * * * * *", "the shortest interval is one second"),
        ("*/.5 * * * * *", "the shortest interval is one second"),
        ("*/x * * * *", "the step 'X' is not an integer"),
        ("*/ * * * *", "the step '' is not an integer"),
        ("/5 * * * *", "a value is missing"),
        ("5- * * * *", "a value is missing"),
        ("-5 * * * *", "a value is missing"),
        ("30-10 * * * *", "the range ends before it begins (for one that wraps around, write 0-10,30-59)"),
        ("0 0 * * FRI-MON", "write SUN-MON,FRI-SAT"),
        ("1,,2 * * * *", "a term is empty"),
        ("1,61 * * * *", "got '61'"),
        ("? * * * *", "? must be the whole field, for a day of month or a weekday"),
        ("0 0 ?/2 * *", "? must be the whole field"),
        ("0 0 L/2 * *", "a step needs *, a number or a range"),
        ("0 0 * * 5L/2", "a step needs"),
        ("0 0 * * MON#2/2", "a step needs"),
        ("0 0 * * MON#6", "# must be followed by 1 to 5"),
        ("0 0 * * MON#", "# must be followed by 1 to 5"),
        ("0 0 * * MON-WED#2", "# must follow a single weekday"),
        ("0 0 1#2 * *", "# belongs to a weekday"),
        ("0 0 15W * *", "15W has no meaning in this field"),
        ("0 0 L-3 * *", "L-3 has no meaning in this field"),
        ("0 0 * * L", "L has no meaning in this field"),
        ("0 0 * * FRIL", "the last FRI is written 5L"),
        ("L * * * *", "L has no meaning in this field"),
        ("0 0 30 2 *", "never fires"),
        ("0 0 31 2,4,6,9,11 *", "never fires"),
        ("0 0 */31 * MON#2", "never fires"),
        ("@every 5m", "write every, which a schedule has in place of cron"),
        ("@every 100ms", "a second is the shortest"),
        ("@reboot", "run the task manually"),
        ("@fortnightly", "use @annually, @daily"),
        ("@daily 5", "got '@daily 5'"),
        ("매일 9시", "the character '매' (position 1)"),
        ("0 9 * * FRı", "the character 'ı' (position 11)"),
        ("٣ 9 * * *", "must not contain the character"),
        ("0 9 * * *\x00", "the character '\\x00' (position 10)"),
        ("0 9 * * *\x7f", "must not contain the character"),
        ("1" * 4_000 + " * * * *", f"at most {LONGEST_TEXT} characters"),
        ("1" * 400 + " * * * *", "minute must be"),
        ("*/" + "9" * 400 + " * * * *", "a step of "),
        ("0 9 * * * |", "got none"),
        (" | ".join(["0 9 * * *"] * (MOST_EXPRESSIONS + 1)), "create several schedules"),
        ("0 9 * * * | 0 25 * * *", "got '25'"),
        ("0 9 * * * ; rm -rf /", "got 9;"),
        ("a b c d e", "got 'A': it is not a number"),
    ],
)
def test_parse_rejects_invalid_expressions(text: str, said: str) -> None:
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
def test_leading_star_distinguishes_intervals_from_times(text: str, fixed: bool) -> None:
    (expression,) = parse(text)
    assert expression.fixed is fixed


def test_the_calendar_ends_with_the_year_9999() -> None:
    (daily,) = parse("0 9 * * *")
    assert daily.next_wall(dt.datetime(9999, 12, 31, 8)) == dt.datetime(9999, 12, 31, 9)
    assert daily.next_wall(dt.datetime(9999, 12, 31, 9)) is None
    assert daily.next_wall(dt.datetime.max) is None
    (leap,) = parse("0 0 29 2 *")
    assert leap.next_wall(dt.datetime(9996, 2, 29)) is None


def test_parse_cache_is_bounded() -> None:
    assert parse("0 9 * * *") is parse("0 9 * * *")
    assert parse.cache_info().maxsize is not None
