"""Previews: the next fires of a schedule, computed without a database."""

from __future__ import annotations

import itertools
from typing import NamedTuple
from zoneinfo import ZoneInfo

from hanbeon.clock import iso
from hanbeon.domain.timing.checks import check_instant
from hanbeon.domain.timing.fire_times import Fire, Timing
from hanbeon.surfaces.schedules import definitions, schemas
from hanbeon.surfaces.validation import given_fields
from hanbeon.zones import zone_of

DEFAULT_COUNT = 10


class PreviewPlan(NamedTuple):
    """The first `n` fires of a timing, from `start` on or from now on."""

    timing: Timing
    n: int
    start: int | None

    def fires(self, now: int) -> list[schemas.PreviewedFire]:
        """Reject a timing that would never fire."""
        after = now if self.start is None else self.start - 1
        definitions.check_times(self.timing, after)
        return next_fires(self.timing, after, self.n)


def plan_preview(request: schemas.PreviewRequest, zone: ZoneInfo) -> PreviewPlan:
    fields = given_fields(request)
    timing = definitions.timing_of(fields, zone)
    start = definitions.instant(fields.get("start"), "from", zone_of(timing.timezone))
    if start is not None:
        check_instant(start, "from")
    return PreviewPlan(timing, fields.get("n") or DEFAULT_COUNT, start)


def next_fires(timing: Timing, after: int, n: int) -> list[schemas.PreviewedFire]:
    """The next fires, in the schedule's own zone."""
    zone = zone_of(timing.timezone)
    return [_shown(each, zone) for each in itertools.islice(timing.fires(after), n)]


def _shown(fire: Fire, zone: ZoneInfo) -> schemas.PreviewedFire:
    at, note = iso(fire.at, zone, "milliseconds") or "", fire.note
    if note is None:
        return schemas.PreviewedFire(at=at)
    return schemas.PreviewedFire(at=at, note=note.text, note_kind=note.kind, wall=note.wall.isoformat())
