"""What a schedule is made and changed with, read and checked before anything is done with it."""

from __future__ import annotations

import datetime as dt
import reprlib
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.clock import MICROS, iso, micros, seconds_of
from hanbeon.domain.schedules.checks import check_timing
from hanbeon.domain.schedules.definition import CATCH_UP_MOST, Definition
from hanbeon.domain.schedules.fire_times import LONGEST_JITTER_US, ClockFold, ClockGap, Timing
from hanbeon.domain.schedules.misfire import Misfire, Overlap
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.validation import table, text, whole
from hanbeon.tasks.options import one_of, switch
from hanbeon.tasks.request import instant_us
from hanbeon.tasks.signature import to_json_text
from hanbeon.zones import zone_of

TIMES = ("cron", "run_at", "timezone", "jitter", "starts_at", "ends_at", "dst_gap", "dst_fold")
FIELDS = ("task_id", "name", *TIMES, "args", "overlap", "misfire", "misfire_limit", "paused")
PREVIEWED_WITH = (*TIMES, "from", "n")
LIMIT_MOST = 10_000


def read_fields(told: Any) -> dict[str, Any]:
    """The fields that were given, by their names; null means what it is by default."""
    return table(told, "a schedule", FIELDS)


def merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A schedule's fields with changes: a cron takes the place of an instant, and an instant that of a cron."""
    after = {**before, **given}
    for one, other in (("cron", "run_at"), ("run_at", "cron")):
        if given.get(one) is not None and other not in given:
            after[other] = None
    return after


def definition_of(fields: Mapping[str, Any], zone: ZoneInfo) -> Definition:
    """What the fields say. Times without an offset are read in the schedule's zone, which is `zone` if it has none."""
    return Definition(
        timing=timing_of(fields, zone),
        args=args_text(args_of(fields.get("args"))),
        overlap=Overlap(_choice(fields, "overlap", Overlap, Overlap.SKIP)),
        misfire=Misfire(_choice(fields, "misfire", Misfire, Misfire.COALESCE)),
        misfire_limit=_limit(fields.get("misfire_limit")),
    )


def timing_of(fields: Mapping[str, Any], zone: ZoneInfo) -> Timing:
    name = fields.get("timezone")
    zone_name = zone.key if name is None else text(name, "timezone")
    gap, fold = fields.get("dst_gap"), fields.get("dst_fold")
    own_zone = zone_of(zone_name)
    cron = fields.get("cron")
    return Timing(
        cron=None if cron is None else _cron(cron),
        run_at=instant(fields.get("run_at"), "run_at", own_zone),
        timezone=zone_name,
        starts_at=instant(fields.get("starts_at"), "starts_at", own_zone),
        ends_at=instant(fields.get("ends_at"), "ends_at", own_zone),
        jitter_us=_jitter(fields.get("jitter")),
        gap=None if gap is None else ClockGap(one_of(gap, list(ClockGap), "dst_gap")),
        fold=None if fold is None else ClockFold(one_of(fold, list(ClockFold), "dst_fold")),
    )


def check_times(timing: Timing, now: int) -> None:
    """Refuse what cannot be, or would never fire from now on."""
    try:
        check_timing(timing, now)
    except InvalidInput as error:
        if error.field in ("gap", "fold"):
            _, _, message = str(error).partition(": ")
            raise InvalidInput(message, field=f"dst_{error.field}") from None
        raise


def fields_of(definition: Definition, zone: ZoneInfo, timespec: str = "milliseconds") -> dict[str, Any]:
    """The same in the words that it was defined with; whoever reads them again needs every microsecond."""
    timing = definition.timing
    return {
        "cron": timing.cron,
        "run_at": iso(timing.run_at, zone, timespec),
        "timezone": timing.timezone,
        "jitter": timing.jitter_us / 1_000_000,
        "starts_at": iso(timing.starts_at, zone, timespec),
        "ends_at": iso(timing.ends_at, zone, timespec),
        "dst_gap": timing.gap,
        "dst_fold": timing.fold,
        "args": msgspec.json.decode(definition.args),
        "overlap": definition.overlap,
        "misfire": definition.misfire,
        "misfire_limit": definition.misfire_limit,
    }


def instant(told: Any, field: str, zone: ZoneInfo) -> int | None:
    """A moment in ISO-8601, also as Python's datetime; without an offset, in the zone."""
    if told is None:
        return None
    if isinstance(told, dt.datetime):
        return instant_us(told, zone)
    try:
        if not isinstance(told, str) or len(told) > 40 or "T" not in told.upper().replace(" ", "T"):
            raise ValueError
        return instant_us(dt.datetime.fromisoformat(told), zone)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{reprlib.repr(told)} is no moment; use ISO-8601, like 2027-01-31T09:00:00+09:00", field=field
        ) from None


def paused_of(fields: Mapping[str, Any]) -> bool:
    told = fields.get("paused")
    return False if told is None else switch(told, "paused")


def name_of(fields: Mapping[str, Any]) -> str | None:
    told = fields.get("name")
    return None if told is None else text(told, "name")


def task_of(fields: Mapping[str, Any]) -> str:
    if fields.get("task_id") is None:
        raise InvalidInput("it is missing; name the task to run", field="task_id")
    return text(fields["task_id"], "task_id")


def args_of(told: Any) -> dict[str, Any]:
    """Arguments by name."""
    if told is None:
        return {}
    if not isinstance(told, Mapping):
        raise InvalidInput(f"{reprlib.repr(told)} does not fit; use an object of arguments by name", field="args")
    return dict(told)


def args_text(args: Mapping[str, Any]) -> str:
    return to_json_text(dict(args), "an argument", "args")


def _cron(told: Any) -> str:
    if not isinstance(told, str):
        raise InvalidInput(f"{reprlib.repr(told)} does not fit; use text like '0 9 * * MON-FRI'", field="cron")
    return told


def _choice(fields: Mapping[str, Any], field: str, choices: Any, default: str) -> str:
    told = fields.get(field)
    return default if told is None else one_of(told, list(choices), field)


def _jitter(told: Any) -> int:
    if told is None:
        return 0
    seconds = seconds_of(told, "jitter") if isinstance(told, str) else told
    if (
        not isinstance(seconds, int | float)
        or isinstance(seconds, bool)
        or not 0 <= seconds <= LONGEST_JITTER_US / MICROS
    ):
        raise InvalidInput(
            f"{reprlib.repr(told)} does not fit; use seconds, 0 to a day, like 30 or '5m'", field="jitter"
        )
    return micros(seconds)


def _limit(told: Any) -> int:
    return CATCH_UP_MOST if told is None else whole(told, "misfire_limit", 1, LIMIT_MOST)
