"""Conversion of a schedule's validated fields to the engine's definition, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.clock import MICROS, iso, micros, seconds_of
from hanbeon.domain.job import LONGEST_US
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.timing.checks import check_timing
from hanbeon.domain.timing.fire_times import LONGEST_JITTER_US, Timing
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.surfaces.moment import instant_of
from hanbeon.surfaces.schedules.definition import RULES, Definition
from hanbeon.surfaces.stored_json import StoredJson, decoded
from hanbeon.zones import zone_of

Fields = Mapping[str, Any]
"""Fields of a schedule by name; None, like a field that is missing, stands for the default."""
KINDS = ("cron", "every", "run_at")
"""The fields that say when: a schedule has one of them."""
_TYPES = {field.name: field.type for field in msgspec.structs.fields(Definition)}


def merged(before: Fields, given: Fields) -> dict[str, Any]:
    """A schedule's fields with changes: one of the kinds of times replaces the others."""
    after = {**before, **given}
    if any(given.get(kind) is not None for kind in KINDS):
        after |= {kind: None for kind in KINDS if kind not in given}
    return after


def definition_of(fields: Fields, zone: ZoneInfo) -> Definition:
    """The definition. Times without an offset are read in the schedule's zone, which is `zone` by default."""
    rules = {name: msgspec.to_builtins(fields[name]) for name in RULES if fields.get(name) is not None}
    bare = Definition(timing=timing_of(fields, zone), args=args_text(fields.get("args") or {}))
    return msgspec.structs.replace(bare, **{name: msgspec.convert(rules[name], _TYPES[name]) for name in rules})


def timing_of(fields: Fields, zone: ZoneInfo) -> Timing:
    zone_name = fields.get("timezone") or zone.key
    own_zone = zone_of(zone_name)
    return Timing(
        cron=fields.get("cron"),
        every_us=_period(fields.get("every")),
        run_at=instant(fields.get("run_at"), "run_at", own_zone),
        timezone=zone_name,
        starts_at=instant(fields.get("starts_at"), "starts_at", own_zone),
        ends_at=instant(fields.get("ends_at"), "ends_at", own_zone),
        jitter_us=_jitter(fields.get("jitter")),
        gap=fields.get("dst_gap"),
        fold=fields.get("dst_fold"),
    )


def check_times(timing: Timing, now: int) -> None:
    """Reject times that contradict each other, or of which none is after `now`."""
    try:
        check_timing(timing, now)
    except InvalidInput as error:
        if error.field in ("gap", "fold"):
            raise InvalidInput(error.reason, field=f"dst_{error.field}") from None
        raise


def fields_of(
    definition: Definition, zone: ZoneInfo, timespec: str = "milliseconds", stored_json: StoredJson = decoded
) -> dict[str, Any]:
    """Return the fields of a definition. To restore it exactly from them, request microseconds."""
    timing = definition.timing
    return {
        "cron": timing.cron,
        "every": None if timing.every_us is None else timing.every_us / MICROS,
        "run_at": iso(timing.run_at, zone, timespec),
        "timezone": timing.timezone,
        "jitter": timing.jitter_us / 1_000_000,
        "starts_at": iso(timing.starts_at, zone, timespec),
        "ends_at": iso(timing.ends_at, zone, timespec),
        "dst_gap": timing.gap,
        "dst_fold": timing.fold,
        "args": stored_json(definition.args),
        **{name: getattr(definition, name) for name in RULES},
    }


def instant(text: str | None, field: str, zone: ZoneInfo) -> int | None:
    """A moment in ISO-8601; without an offset, in the zone."""
    return None if text is None else instant_of(text, field, zone)


def args_text(args: Mapping[str, Any]) -> str:
    return to_json_text(dict(args), "an argument", "args")


def _period(given: float | str | None) -> int | None:
    if given is None:
        return None
    seconds = seconds_of(given, "every") if isinstance(given, str) else given
    if not 1 <= seconds <= LONGEST_US / MICROS:  # Also rejects NaN.
        raise InvalidInput(Rule("must_be", what=Rule("period"), got=quoted(given)), field="every")
    return micros(seconds)


def _jitter(given: float | str | None) -> int:
    if given is None:
        return 0
    seconds = seconds_of(given, "jitter") if isinstance(given, str) else given
    if not 0 <= seconds <= LONGEST_JITTER_US / MICROS:  # Also rejects NaN.
        raise InvalidInput(Rule("must_be", what=Rule("jitter_seconds"), got=quoted(given)), field="jitter")
    return micros(seconds)
