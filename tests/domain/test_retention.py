"""How far the database's clock is believed when rows are to be deleted."""

from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.retention import SeenClock, observe, patience_us

HOUR = 3_600 * 1_000_000
DAY = 24 * HOUR
MONTH = 30 * DAY
EVERY = HOUR
START = 50 * 365 * DAY
STEADY = SeenClock(START, START - MONTH, START)


def _run(seen: SeenClock, *times: int) -> list[int]:
    """The trusted time after each look, relative to the start."""
    trusted = []
    for time in times:
        seen = observe(seen, START + time, MONTH, EVERY)
        trusted.append(seen.trusted_at - START)
    return trusted


def test_first_look_is_believed() -> None:
    assert observe(SeenClock(), START, MONTH, EVERY) == SeenClock(START, START, START)


def test_steady_clock_is_believed() -> None:
    assert _run(STEADY, HOUR, 2 * HOUR, 4 * DAY, 4 * DAY) == [HOUR, 2 * HOUR, 2 * HOUR + 3 * DAY, 4 * DAY]


def test_jump_is_believed_after_a_day_without_another() -> None:
    jump = 12 * MONTH
    hours = [jump + hour * HOUR for hour in range(26)]
    assert _run(STEADY, *hours) == [3 * DAY] * 24 + hours[24:]
    again = [2 * jump + hour * HOUR for hour in range(24)]
    assert max(_run(STEADY, *hours[:20], *again)) == 6 * DAY, "each jump moves it by a tenth of the retention"


def test_clock_that_is_set_back_is_believed_at_once() -> None:
    jump = 12 * MONTH
    assert _run(STEADY, jump, jump + HOUR, 2 * HOUR, 3 * HOUR) == [3 * DAY, 3 * DAY, 2 * HOUR, 3 * HOUR]


def test_short_retention_is_not_held_up_for_a_day() -> None:
    seen = observe(STEADY, START + MONTH, HOUR, HOUR // 60)
    assert START < seen.trusted_at < START + HOUR
    for minute in range(61):
        seen = observe(seen, START + MONTH + minute * HOUR // 60, HOUR, HOUR // 60)
    assert seen.trusted_at == seen.seen_at


@given(st.lists(st.integers(-2 * MONTH, 2 * MONTH), max_size=30))
def test_trusted_time_never_passes_the_clock_or_jumps(steps: list[int]) -> None:
    seen = STEADY
    for step in steps:
        after = observe(seen, seen.seen_at + step, MONTH, EVERY)
        assert after.trusted_at <= max(after.seen_at, seen.trusted_at + patience_us(MONTH, EVERY))
        if step > patience_us(MONTH, EVERY):
            assert after.trusted_at - seen.trusted_at <= patience_us(MONTH, EVERY)
        seen = after
