"""Exports as jobs of the engine: task and queue, arguments, progress, result, and place."""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from hanbeon.domain.job import JobRecord
from hanbeon.domain.reserved_queues import ReservedQueue, reserve_queue
from hanbeon.surfaces.surface import JobPlace

PREFIX = "hanbeon.export"
QUEUE = reserve_queue(ReservedQueue("exports", "exports", "export a replay, or use another queue"))


class JobType(enum.StrEnum):
    """The kind of file that an export makes."""

    MP4 = "MP4"
    THUMBNAIL = "THUMBNAIL"


EXTENSIONS = {JobType.MP4: "mp4", JobType.THUMBNAIL: "png"}
MEDIA_TYPES = {JobType.MP4: "video/mp4", JobType.THUMBNAIL: "image/png"}


def task_of(job_type: JobType) -> str:
    """Return the task that makes such files. Only instances that can have it."""
    return f"{PREFIX}:{job_type.value}"


class ExportArgs(msgspec.Struct, frozen=True):
    """The arguments of an export's job.

    Each attempt writes its file into `folder` below `root`; it is named after the attempt's fence. `options` are those
    of the request that a worker gets, except for the fence and the path.
    """

    export_id: int
    job_type: JobType
    replay_id: int
    root: str
    folder: str
    options: dict[str, Any]


class ExportResult(msgspec.Struct, frozen=True):
    """The result of an export's job, as a worker reports it."""

    resultUri: str
    checksum: str | None = None


class ExportProgress(msgspec.Struct, frozen=True):
    """The progress of an export's job, as a worker reports it."""

    progress: int = 0
    phase: str = ""
    message: str = ""


_results = msgspec.json.Decoder(ExportResult)
_progress = msgspec.json.Decoder(ExportProgress)
_TEXT_MOST = 500


def result_in(text: str | None) -> ExportResult | None:
    """Return the result of a job; None for what is not that of an export."""
    try:
        return None if text is None else _results.decode(text)
    except msgspec.DecodeError:
        return None


def progress_in(text: str) -> ExportProgress | None:
    """Return the progress of a job, within bounds; None for what is not that of an export."""
    try:
        found = _progress.decode(text)
    except msgspec.DecodeError:
        return None
    return ExportProgress(min(100, max(0, found.progress)), found.phase[:_TEXT_MOST], found.message[:_TEXT_MOST])


def output_name(job_type: JobType, fence: int) -> str:
    """Return the name of the file of one attempt."""
    return f"{fence}.{EXTENSIONS[job_type]}"


def place_of_job(job: JobRecord) -> JobPlace | None:
    """An operator may cancel an export as a job; only its owner finds it at its path."""
    if not job.task.startswith(f"{PREFIX}:"):
        return None
    return JobPlace(f"/api/jobs/{msgspec.json.decode(job.args, type=ExportArgs).export_id}", private=True)
