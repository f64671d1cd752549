"""Random cron expressions together with what they mean, said by plain sets that owe nothing to any library."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import strategies as st

ZONES = [
    "UTC",
    "Asia/Seoul",
    "Asia/Kolkata",
    "Asia/Tehran",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Havana",
    "Europe/Berlin",
    "Europe/London",
    "Africa/Casablanca",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Antarctica/Troll",
]


class Drawn(NamedTuple):
    """An expression of five fields, and whether it matches a wall time of whole minutes."""

    text: str
    matches: Callable[[dt.datetime], bool]


class _Part(NamedTuple):
    text: str
    values: frozenset[int]


def _term(low: int, high: int) -> st.SearchStrategy[_Part]:
    value = st.integers(low, high)
    step = st.integers(1, high - low + 1)

    def ranged(ends: tuple[int, int], every: int) -> _Part:
        begin, end = min(ends), max(ends)
        text = f"{begin}-{end}" if every == 1 else f"{begin}-{end}/{every}"
        return _Part(text, frozenset(range(begin, end + 1, every)))

    return st.one_of(
        st.builds(lambda one: _Part(str(one), frozenset([one])), value),
        st.builds(ranged, st.tuples(value, value), st.just(1) | step),
    )


def field(low: int, high: int) -> st.SearchStrategy[_Part]:
    """`*`, `*/n`, or a list of numbers, ranges and ranges with a step."""
    every = st.integers(1, high - low + 1)
    return st.one_of(
        st.just(_Part("*", frozenset(range(low, high + 1)))),
        st.builds(lambda n: _Part(f"*/{n}", frozenset(range(low, high + 1, n))), every),
        st.builds(_listed, st.lists(_term(low, high), min_size=1, max_size=3)),
    )


def _listed(terms: list[_Part]) -> _Part:
    return _Part(",".join(term.text for term in terms), frozenset[int]().union(*(term.values for term in terms)))


def _drawn(minute: _Part, hour: _Part, day: _Part, month: _Part, weekday: _Part) -> Drawn:
    both = day.text.startswith("*") or weekday.text.startswith("*")

    def matches(wall: dt.datetime) -> bool:
        in_month, in_week = wall.day in day.values, wall.isoweekday() % 7 in weekday.values
        return (
            wall.minute in minute.values
            and wall.hour in hour.values
            and wall.month in month.values
            and ((in_month and in_week) if both else (in_month or in_week))
        )

    return Drawn(" ".join(part.text for part in (minute, hour, day, month, weekday)), matches)


def expressions(*, busy: bool) -> st.SearchStrategy[Drawn]:
    """Any expression, or one whose days are all days, so that a short window holds some of its fires."""
    days, months, weekdays = field(1, 31), field(1, 12), field(0, 6)
    if busy:
        days, months, weekdays = (
            st.just(_Part("*", frozenset(range(low, high + 1)))) for low, high in ((1, 31), (1, 12), (0, 6))
        )
    return st.builds(_drawn, field(0, 59), field(0, 23), days, months, weekdays)
