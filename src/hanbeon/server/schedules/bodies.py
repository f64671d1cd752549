"""What clients send about schedules, for the description of the API. It is the surface that reads and checks it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hanbeon.domain.schedules.fire_times import ClockFold, ClockGap
from hanbeon.domain.schedules.misfire import Misfire, Overlap
from hanbeon.server.offices.bodies import Name
from hanbeon.surfaces.schedules.body import LIMIT_MOST
from hanbeon.surfaces.schedules.preview import PREVIEW_MOST

Moment = Annotated[str, Meta(max_length=40, examples=["2027-01-31T09:00:00+09:00"])]
Cron = Annotated[str, Meta(min_length=1, examples=["0 9 * * MON-FRI"])]
Fires = Annotated[int, Meta(ge=1, le=PREVIEW_MOST)]


class Times(msgspec.Struct, kw_only=True):
    """Either `cron` or `run_at`. `jitter` in seconds, or as text like `5m`; moments in ISO-8601."""

    cron: Cron | None = None
    run_at: Moment | None = None
    timezone: Name | None = None
    jitter: float | str | None = None
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    dst_gap: ClockGap | None = None
    dst_fold: ClockFold | None = None


class ScheduleChange(Times, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays; null stands for the default."""

    task_id: Name | None = None
    name: Name | None = None
    args: dict[str, Any] | None = None
    overlap: Overlap | None = None
    misfire: Misfire | None = None
    misfire_limit: Annotated[int, Meta(ge=1, le=LIMIT_MOST)] | None = None
    paused: bool | None = None


class ScheduleBody(ScheduleChange, kw_only=True, forbid_unknown_fields=True):
    """The task must be known: a worker that has it has started once."""

    task_id: Name


class PreviewBody(Times, kw_only=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """The first `n` fires at or after `from`, which is now by default."""

    start: Moment | None = None
    n: Fires | None = None


class RunBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    args: dict[str, Any] | None = None
