"""When a workflow runs next, and which of its times a run has passed over."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from hanbeon.domain.timing import cron
from hanbeon.domain.timing.fire_times import Timing
from hanbeon.domain.timing.recurrence import daily, monthly, weekly
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.workflows.definition import Recurrence, ScheduleConfig
from hanbeon.surfaces.workflows.vocabulary import Frequency, Mode

_MINUTE_US = 60_000_000
LATE_US = _MINUTE_US
"""A run that starts more than this after its time is late; one that has not started is delayed."""
_COUNTED_MOST = 10_000


class Passed(msgspec.Struct, frozen=True):
    """Times that fell due while a run was late or under way. They are skipped."""

    count: int
    first: int
    last: int


class Activation(NamedTuple):
    """The facts of an active workflow. `spent`: the run of a mode that runs once has been registered and has ended."""

    activated_at: int
    last_time: int | None
    spent: bool


def next_time(config: ScheduleConfig, timezone: str, active: Activation, now: int) -> int | None:
    """Return the instant of the next run; None if there is none."""
    if config.mode is Mode.RECURRING:
        assert config.recurrence is not None
        after = max(now, active.activated_at, active.last_time or 0)
        fire = timing_of(config.recurrence, timezone).next_fire(after)
        return None if fire is None else fire.at
    if active.spent:
        return None
    if config.mode is Mode.SCHEDULED:
        return config.scheduled_at
    delay = round((config.delay_minutes or 0) * _MINUTE_US) if config.mode is Mode.DELAYED else 0
    return active.activated_at + delay


def timing_of(recurrence: Recurrence, timezone: str) -> Timing:
    return Timing(cron=cron_of(recurrence), timezone=timezone)


def cron_of(recurrence: Recurrence) -> str:
    """Return the cron text. Raises for a weekday, day or time that does not exist, and for one that does not belong."""
    if recurrence.cron is not None:
        cron.parse(recurrence.cron)
        return recurrence.cron
    assert recurrence.frequency is not None
    if recurrence.frequency is not Frequency.WEEKLY and recurrence.weekdays:
        raise InvalidInput(Rule("weekdays_of_weekly", frequency=recurrence.frequency), field="weekdays")
    if recurrence.frequency is not Frequency.MONTHLY and recurrence.day is not None:
        raise InvalidInput(Rule("day_of_monthly", frequency=recurrence.frequency), field="day")
    if recurrence.frequency is Frequency.DAILY:
        return daily(recurrence.time)
    if recurrence.frequency is Frequency.WEEKLY:
        return weekly(recurrence.weekdays, recurrence.time)
    if recurrence.day is None:
        raise InvalidInput(Rule("day_required"), field="day")
    return monthly(recurrence.day, recurrence.time)


def passed_over(config: ScheduleConfig, timezone: str, after: int, now: int) -> Passed | None:
    """Return the times after `after` and up to `now`; counted up to a limit."""
    if config.mode is not Mode.RECURRING:
        return None
    assert config.recurrence is not None
    first, last, count = 0, 0, 0
    for fire in timing_of(config.recurrence, timezone).fires(after):
        if fire.at > now or count >= _COUNTED_MOST:
            break
        first, last, count = first or fire.at, fire.at, count + 1
    return Passed(count, first, last) if count else None
