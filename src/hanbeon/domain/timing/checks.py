"""Validation of a schedule's timing; errors name the field and a valid value."""

from __future__ import annotations

from hanbeon.domain.job import LAST_INSTANT_US
from hanbeon.domain.timing.cron import parse
from hanbeon.domain.timing.fire_times import FIRST_INSTANT_US, LONGEST_JITTER_US, Timing
from hanbeon.domain.timing.zones import MICROS, shown
from hanbeon.errors import InvalidInput
from hanbeon.zones import zone_of


def check_instant(instant: int, field: str) -> None:
    """Reject an instant at which nothing fires, rather than moving it in silence."""
    if not FIRST_INSTANT_US <= instant <= LAST_INSTANT_US:
        raise InvalidInput("must be an instant in the years 1870 to 9999", field=field)


def check_timing(timing: Timing, now: int) -> None:
    """Raise for the first invalid field. `now` is passed by the caller, to reject instants in the past."""
    zone_of(timing.timezone)
    for field in ("run_at", "starts_at", "ends_at"):
        instant: int | None = getattr(timing, field)
        if instant is not None:
            check_instant(instant, field)
    if timing.starts_at is not None and timing.ends_at is not None and timing.ends_at < timing.starts_at:
        raise InvalidInput(
            f"must not be before starts_at ({_shown(timing, timing.starts_at)}), "
            f"got {_shown(timing, timing.ends_at)}; choose a later end, or omit it for none",
            field="ends_at",
        )
    if not 0 <= timing.jitter_us <= LONGEST_JITTER_US:
        raise InvalidInput(
            f"must be from 0 (none) to {LONGEST_JITTER_US // MICROS} seconds, for example 30", field="jitter"
        )
    if timing.cron is not None and timing.run_at is not None:
        raise InvalidInput("must not be combined with cron; omit one of them", field="run_at")
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
            f"must leave a time at which {timing.cron!r} fires, but it never does {place}; "
            "choose another, or omit it for none",
            field=bound,
        )


def _check_instant(timing: Timing, now: int) -> None:
    if timing.run_at is None:
        raise InvalidInput(
            'must be given, for example "0 9 * * MON-FRI", unless run_at is, for example '
            f'"{_shown(timing, _example_after(now))}"',
            field="cron",
        )
    if timing.run_at <= now:
        raise InvalidInput(
            f"must be in the future (now: {_shown(timing, now)}), got {_shown(timing, timing.run_at)}; choose a later "
            f"instant, for example {_shown(timing, _example_after(now))}, or run the task manually",
            field="run_at",
        )
    for field in ("gap", "fold"):
        if getattr(timing, field) is not None:
            raise InvalidInput("must not be combined with run_at, only with cron; omit it", field=field)
    if timing.next_fire(timing.run_at - 1) is None:
        raise InvalidInput("must be between starts_at and ends_at; omit those for a single instant", field="run_at")


def _example_after(now: int) -> int:
    """Return the full hour after next: an instant that is still in the future once a user has typed it."""
    hour = 3_600 * MICROS
    return (now // hour + 2) * hour


def _shown(timing: Timing, instant: int) -> str:
    return shown(instant, zone_of(timing.timezone))
