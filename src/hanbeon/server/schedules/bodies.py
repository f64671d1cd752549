"""What clients send about schedules, for the description of the API. It is the surface that reads and checks it."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain.schedules.misfire import Misfire, Overlap
from hanbeon.domain.schedules.timing import Fold, Gap


class Times(msgspec.Struct, kw_only=True):
    """Either `cron` or `run_at`. `jitter` in seconds, or as text like `5m`; moments in ISO-8601."""

    cron: str | None = None
    run_at: str | None = None
    timezone: str | None = None
    jitter: float | str | None = None
    starts_at: str | None = None
    ends_at: str | None = None
    dst_gap: Gap | None = None
    dst_fold: Fold | None = None


class ScheduleChange(Times, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays; null stands for the default."""

    task_id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None
    overlap: Overlap | None = None
    misfire: Misfire | None = None
    misfire_limit: int | None = None
    paused: bool | None = None


class ScheduleBody(ScheduleChange, kw_only=True, forbid_unknown_fields=True):
    """The task must be known: a worker that has it has started once."""

    task_id: str


class PreviewBody(Times, kw_only=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """The first `n` fires at or after `from`, which is now by default."""

    start: str | None = None
    n: int | None = None


class RunBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    args: dict[str, Any] | None = None
