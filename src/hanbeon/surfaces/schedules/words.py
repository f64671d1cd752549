"""The names and types of what is said of a schedule, for Python here and for clients elsewhere."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, TypedDict

Moment = dt.datetime | str


class Times(TypedDict, total=False):
    """When: `cron` or `run_at`. Moments without an offset are read in the schedule's zone."""

    cron: str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: str | None
    dst_fold: str | None


class Declarable(Times, total=False):
    """What a schedule says besides its name and its task; None means what it is by default."""

    args: Mapping[str, Any] | None
    overlap: str | None
    misfire: str | None
    misfire_limit: int | None
    paused: bool | None


class Fields(Declarable, total=False):
    name: str | None
