"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

from typing import TypedDict

from hanbeon.surfaces.exports.jobs import JobType
from hanbeon.surfaces.exports.vocabulary import ExportStatus


class ExportQueryFields(TypedDict, total=False):
    """`page` from 0, of `size` rows."""

    job_type: JobType | str | None
    status: ExportStatus | str | None
    page: int
    size: int


class NewThumbnailFields(TypedDict, total=False):
    """A picture of the liveliest moment, of the whole replay or of `lengthMs` from `startMs` on; 1280×720."""

    width: int | None
    height: int | None
    start_ms: int | None
    length_ms: int | None


class NewVideoFields(TypedDict, total=False):
    """A video of the whole replay, or of `lengthMs` from `startMs` on; by default 1280×720 with 30 frames a second."""

    width: int | None
    height: int | None
    start_ms: int | None
    length_ms: int | None
    fps: int | None
