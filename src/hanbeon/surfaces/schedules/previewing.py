"""When a schedule fires next, or would: asked with a schedule's fields, answered without a database."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from hanbeon.clock import iso
from hanbeon.domain.schedules.timing import Fire, Timing
from hanbeon.surfaces.reading import table, whole
from hanbeon.surfaces.schedules import body, shapes
from hanbeon.zones import zone_of

PREVIEW_MOST = 1_000
_USUALLY = 10


class Asked(NamedTuple):
    """A preview that somebody wants: of these times, so many, from a moment on or from now."""

    timing: Timing
    n: int
    start: int | None

    def answer(self, now: int) -> shapes.Preview:
        """Refused if nothing would fire."""
        after = now if self.start is None else self.start - 1
        body.check_times(self.timing, after)
        return previewed(self.timing, after, self.n)


def asked(told: Any, zone: ZoneInfo) -> Asked:
    """From `{cron | run_at, timezone?, from?, n?, …}`."""
    fields = table(told, "a preview", body.PREVIEWED_WITH)
    timing = body.timing_of(fields, zone)
    n = _USUALLY if fields.get("n") is None else check_n(fields["n"])
    return Asked(timing, n, body.instant(fields.get("from"), "from", zone_of(timing.timezone)))


def check_n(told: Any) -> int:
    return whole(told, "n", 1, PREVIEW_MOST)


def previewed(timing: Timing, after: int, n: int) -> shapes.Preview:
    """The next fires, in the schedule's own zone, where its times are meant."""
    zone = zone_of(timing.timezone)
    return shapes.Preview(fires=[_shown(each, zone) for each in itertools.islice(timing.fires(after), n)])


def _shown(fire: Fire, zone: ZoneInfo) -> shapes.PreviewedFire:
    note = None if fire.note is None else fire.note.text
    return shapes.PreviewedFire(at=iso(fire.at, zone, "milliseconds") or "", note=note)
