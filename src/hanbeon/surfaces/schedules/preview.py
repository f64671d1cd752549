"""When a schedule fires next, or would: asked with a schedule's fields, answered without a database."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from hanbeon.clock import iso
from hanbeon.domain.schedules.fire_times import Fire, Timing
from hanbeon.surfaces.schedules import body, schemas
from hanbeon.surfaces.validation import table, whole
from hanbeon.zones import zone_of

PREVIEW_MOST = 1_000
_USUALLY = 10


class PreviewRequest(NamedTuple):
    """A preview that somebody wants: of these times, so many, from a moment on or from now."""

    timing: Timing
    n: int
    start: int | None

    def answer(self, now: int) -> schemas.Preview:
        """Refused if nothing would fire."""
        after = now if self.start is None else self.start - 1
        body.check_times(self.timing, after)
        return previewed(self.timing, after, self.n)


def preview_request(told: Any, zone: ZoneInfo) -> PreviewRequest:
    """From `{cron | run_at, timezone?, from?, n?, …}`."""
    fields = table(told, "a preview", body.PREVIEWED_WITH)
    timing = body.timing_of(fields, zone)
    n = _USUALLY if fields.get("n") is None else check_n(fields["n"])
    return PreviewRequest(timing, n, body.instant(fields.get("from"), "from", zone_of(timing.timezone)))


def check_n(told: Any) -> int:
    return whole(told, "n", 1, PREVIEW_MOST)


def previewed(timing: Timing, after: int, n: int) -> schemas.Preview:
    """The next fires, in the schedule's own zone, where its times are meant."""
    zone = zone_of(timing.timezone)
    return schemas.Preview(fires=[_shown(each, zone) for each in itertools.islice(timing.fires(after), n)])


def _shown(fire: Fire, zone: ZoneInfo) -> schemas.PreviewedFire:
    note = None if fire.note is None else fire.note.text
    return schemas.PreviewedFire(at=iso(fire.at, zone, "milliseconds") or "", note=note)
