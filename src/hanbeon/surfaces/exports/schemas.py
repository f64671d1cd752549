"""Requests and results of exports: the only place where their fields are written."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from hanbeon.rule import Rule
from hanbeon.surfaces.exports.jobs import JobType
from hanbeon.surfaces.exports.rendering.render_options import HEIGHTS, RATES, WIDTHS
from hanbeon.surfaces.exports.rendering.replay_format import DURATION_MOST_MS
from hanbeon.surfaces.exports.vocabulary import ExportEventType, ExportStatus
from hanbeon.surfaces.schema import PageNumber, PageSize, PostBody, Request, Result
from hanbeon.surfaces.validation import EXPECTED


def _even(least: int, most: int) -> Meta:
    return Meta(ge=least, le=most, multiple_of=2, extra={EXPECTED: Rule("even_integer_from_to", low=least, high=most)})


Width = Annotated[int, _even(*WIDTHS)]
Height = Annotated[int, _even(*HEIGHTS)]
FrameRate = Annotated[int, Meta(ge=RATES[0], le=RATES[1])]
Start = Annotated[int, Meta(ge=0, le=DURATION_MOST_MS)]
Length = Annotated[int, Meta(ge=1, le=DURATION_MOST_MS)]


# Requests


class NewThumbnail(PostBody, frozen=True, kw_only=True, rename="camel"):
    """A picture of the liveliest moment, of the whole replay or of `lengthMs` from `startMs` on; 1280×720."""

    width: Width | UnsetType = UNSET
    height: Height | UnsetType = UNSET
    start_ms: Start | UnsetType = UNSET
    length_ms: Length | UnsetType = UNSET


class NewVideo(NewThumbnail, frozen=True, kw_only=True, rename="camel"):
    """A video of the whole replay, or of `lengthMs` from `startMs` on; by default 1280×720 with 30 frames a second."""

    fps: FrameRate | UnsetType = UNSET


class ExportQuery(Request, frozen=True, kw_only=True, rename="camel"):
    """`page` from 0, of `size` rows."""

    job_type: JobType | UnsetType | None = UNSET
    status: ExportStatus | UnsetType | None = UNSET
    page: PageNumber | UnsetType = UNSET
    size: PageSize | UnsetType = UNSET


# Results


class ExportCreated(Result, frozen=True, kw_only=True, rename="camel"):
    job_id: int


class Export(Result, frozen=True, kw_only=True, rename="camel"):
    """An export. `progress` is from 0 to 100; `phase` and `message` are the worker's last.

    `waiting`: what an export that was sent to stream workers waits for; null in lists, and once one has begun.
    """

    job_id: int
    job_type: JobType
    replay_id: int
    status: ExportStatus
    progress: int
    phase: str
    message: str
    result_uri: str | None
    result_checksum: str | None
    error_code: str | None
    error_message: str | None
    created_at: str
    started_at: str | None
    ended_at: str | None
    waiting: str | None = None

    @property
    def is_unfinished(self) -> bool:
        return self.status in (ExportStatus.QUEUED, ExportStatus.RUNNING)


class ExportPage(Result, frozen=True, kw_only=True):
    """Exports, newest first."""

    items: list[Export]
    page: int
    size: int
    total: int


class CancelAnswer(Result, frozen=True, kw_only=True):
    """A cancelled export; `stopping`: its work is being stopped, and it is cancelled once that is done."""

    job: Export
    stopping: bool


class ExportEvent(Result, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An event of an export. Progress has `progress`, `phase` and `message`; an end has the others."""

    id: int
    type: ExportEventType
    job_id: int
    job_type: JobType
    replay_id: int
    timestamp: str
    progress: int | UnsetType = UNSET
    phase: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    status: ExportStatus | UnsetType = UNSET
    result_uri: str | UnsetType | None = UNSET
    checksum: str | UnsetType | None = UNSET
    error_code: str | UnsetType | None = UNSET
    error_message: str | UnsetType | None = UNSET
