"""Validation of a schedule's timing; errors name the field and a valid value."""

from __future__ import annotations

from hanbeon.domain.durations import brief
from hanbeon.domain.job import LAST_INSTANT_US, LONGEST_US
from hanbeon.domain.timing.cron import parse
from hanbeon.domain.timing.fire_times import FIRST_INSTANT_US, LONGEST_JITTER_US, Timing
from hanbeon.domain.timing.zones import MICROS, shown
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.zones import zone_of


def check_instant(instant: int, field: str) -> None:
    """Reject an instant at which nothing fires, rather than moving it in silence."""
    if not FIRST_INSTANT_US <= instant <= LAST_INSTANT_US:
        raise InvalidInput(Rule("must_be", what=Rule("instant_in_range")), field=field)


def check_timing(timing: Timing, now: int) -> None:
    """Raise for the first invalid field. `now` is passed by the caller, to reject instants in the past."""
    zone_of(timing.timezone)
    for field in ("run_at", "starts_at", "ends_at"):
        instant: int | None = getattr(timing, field)
        if instant is not None:
            check_instant(instant, field)
    if timing.starts_at is not None and timing.ends_at is not None and timing.ends_at < timing.starts_at:
        raise InvalidInput(
            Rule("ends_before_start", start=_shown(timing, timing.starts_at), got=_shown(timing, timing.ends_at)),
            field="ends_at",
        )
    if not 0 <= timing.jitter_us <= LONGEST_JITTER_US:
        raise InvalidInput(Rule("schedule_jitter", most=LONGEST_JITTER_US // MICROS), field="jitter")
    if timing.every_us is not None and (timing.cron is not None or timing.run_at is not None):
        raise InvalidInput(Rule("every_with_others"), field="every")
    if timing.cron is not None and timing.run_at is not None:
        raise InvalidInput(Rule("run_at_with_cron"), field="run_at")
    if timing.cron is not None:
        parse(timing.cron)
        _check_fires(timing, now, repr(timing.cron))
    elif timing.every_us is not None:
        _check_every(timing, timing.every_us, now)
    else:
        _check_instant(timing, now)


def _check_every(timing: Timing, every_us: int, now: int) -> None:
    if not MICROS <= every_us <= LONGEST_US:
        raise InvalidInput(Rule("must_be", what=Rule("period"), got=every_us / MICROS), field="every")
    _check_no_clock_rules(timing)
    _check_fires(timing, now, f"a period of {brief(every_us / MICROS)}")


def _check_no_clock_rules(timing: Timing) -> None:
    for field in ("gap", "fold"):
        if getattr(timing, field) is not None:
            raise InvalidInput(Rule("only_with_cron"), field=field)


def _check_fires(timing: Timing, now: int, what: str) -> None:
    if timing.next_fire(now) is None:
        bound = "ends_at" if timing.ends_at is not None else "starts_at"
        rule = (
            Rule("never_fires_until", cron=what, end=_shown(timing, timing.ends_at))
            if timing.ends_at is not None
            else Rule("never_fires", cron=what)
        )
        raise InvalidInput(rule, field=bound)


def _check_instant(timing: Timing, now: int) -> None:
    if timing.run_at is None:
        raise InvalidInput(
            Rule("cron_or_run_at", example=_shown(timing, _example_after(now))),
            field="cron",
        )
    if timing.run_at <= now:
        raise InvalidInput(
            Rule(
                "run_at_past",
                now=_shown(timing, now),
                got=_shown(timing, timing.run_at),
                example=_shown(timing, _example_after(now)),
            ),
            field="run_at",
        )
    _check_no_clock_rules(timing)
    if timing.next_fire(timing.run_at - 1) is None:
        raise InvalidInput(Rule("run_at_outside"), field="run_at")


def _example_after(now: int) -> int:
    """Return the full hour after next: an instant that is still in the future once a user has typed it."""
    hour = 3_600 * MICROS
    return (now // hour + 2) * hour


def _shown(timing: Timing, instant: int) -> str:
    return shown(instant, zone_of(timing.timezone))
