"""Whether a schedule's timing can be kept: what does not fit is refused with its field and what would."""

from __future__ import annotations

from hanbeon.domain.job import LAST_INSTANT_US
from hanbeon.domain.schedules.cron import parse
from hanbeon.domain.schedules.fire_times import FIRST_INSTANT_US, LONGEST_JITTER_US, Timing
from hanbeon.domain.schedules.zones import MICROS, shown
from hanbeon.errors import InvalidInput
from hanbeon.zones import zone_of


def check_timing(timing: Timing, now: int) -> None:
    """Refuse the first field that does not fit. `now` is the caller's, for an instant that is past already."""
    zone_of(timing.timezone)
    for field in ("run_at", "starts_at", "ends_at"):
        instant: int | None = getattr(timing, field)
        if instant is not None and not FIRST_INSTANT_US <= instant <= LAST_INSTANT_US:
            raise InvalidInput("it is not an instant of the years 1870 to 9999", field=field)
    if timing.starts_at is not None and timing.ends_at is not None and timing.ends_at < timing.starts_at:
        raise InvalidInput(
            f"{_shown(timing, timing.ends_at)} is before starts_at, {_shown(timing, timing.starts_at)}; "
            "choose a later end, or leave it out for none",
            field="ends_at",
        )
    if not 0 <= timing.jitter_us <= LONGEST_JITTER_US:
        raise InvalidInput(f"it is 0 (none) to {LONGEST_JITTER_US // MICROS} seconds, for example 30", field="jitter")
    if timing.cron is not None and timing.run_at is not None:
        raise InvalidInput("a schedule has either cron or run_at; leave one of them out", field="run_at")
    if timing.cron is not None:
        _check_cron(timing, now)
    else:
        _check_instant(timing, now)


def _check_cron(timing: Timing, now: int) -> None:
    assert timing.cron is not None
    parse(timing.cron)
    if timing.next_fire(now) is None:
        bound = "ends_at" if timing.ends_at is not None else "starts_at"
        place = f"until {_shown(timing, timing.ends_at)}" if timing.ends_at is not None else "before the year 10000"
        raise InvalidInput(
            f"{timing.cron!r} does not fire any more {place}; choose another, or leave it out for none", field=bound
        )


def _check_instant(timing: Timing, now: int) -> None:
    if timing.run_at is None:
        raise InvalidInput(
            'a schedule needs cron, for example "0 9 * * MON-FRI", or run_at, for example '
            f'"{_shown(timing, _example_after(now))}"',
            field="cron",
        )
    if timing.run_at <= now:
        raise InvalidInput(
            f"{_shown(timing, timing.run_at)} is past (it is {_shown(timing, now)}); choose a later instant, for "
            f"example {_shown(timing, _example_after(now))}, or run the task by hand",
            field="run_at",
        )
    for field in ("gap", "fold"):
        if getattr(timing, field) is not None:
            raise InvalidInput("it belongs to cron: an instant comes once; leave it out", field=field)
    if timing.next_fire(timing.run_at - 1) is None:
        raise InvalidInput("it is not between starts_at and ends_at; leave those out for an instant", field="run_at")


def _example_after(now: int) -> int:
    """The next full hour but one: an instant that is still to come when somebody has typed it."""
    hour = 3_600 * MICROS
    return (now // hour + 2) * hour


def _shown(timing: Timing, instant: int) -> str:
    return shown(instant, zone_of(timing.timezone))
