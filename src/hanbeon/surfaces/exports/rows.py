"""Exports as rows beside their jobs of the engine: create, read, cancel, and what follows progress and end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from hanbeon.clock import iso
from hanbeon.domain.events import Event
from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.domain.retry import RetryPolicy
from hanbeon.store.operations import cancel
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.operations.end_hooks import EndedJob, EndHook
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.exports.errors import ExportEnded, ExportNotFound
from hanbeon.surfaces.exports.jobs import PREFIX, QUEUE, ExportArgs, JobType, progress_in, result_in, task_of
from hanbeon.surfaces.exports.replays.rows import ReplayRecord, lock_replay
from hanbeon.surfaces.exports.replays.unwanted_files import UnwantedFile, add_unwanted
from hanbeon.surfaces.exports.vocabulary import ENDS, ExportEventType, error_code, status_of
from hanbeon.zones import zone_of


class NewExport(msgspec.Struct, frozen=True, kw_only=True):
    """An export to create. `options` are those of the rendering; the rest of the worker's is added here."""

    uid: str
    job_type: JobType
    owner: str
    replay_id: int
    root: str
    options: dict[str, Any]
    timeout_us: int
    timezone: str


class ExportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored export with its job. Instants are microseconds since 1970 UTC; `options` is JSON text."""

    id: int
    uid: str
    job_type: JobType
    owner: str
    replay_id: int
    root: str
    folder: str
    options: str
    progress: int
    phase: str
    message: str
    result_uri: str | None
    result_checksum: str | None
    created_at: int
    state: State
    started_at: int | None
    finished_at: int | None
    failure_type: str | None
    error_message: str | None


async def add_export(tx: Tx, lanes: LaneCache, new: NewExport) -> ExportRecord:
    """Create an export and its job. A repeated request, which has the same `uid`, returns the existing one."""
    found = await export_by_uid(tx, new.uid)
    if found is None:
        replay = await lock_replay(tx, new.owner, new.replay_id)
        options = to_json(new.options)
        row = (
            await tx.fetch("add_export", new.uid, new.job_type, new.owner, new.replay_id, new.root, new.uid, options)
        )[0]
        job = _job(new, replay, row["id"], row["created_at"])
        lanes = await lanes.ensure(tx, [job.lane])
        await enqueues.enqueue(tx, lanes, [job])
        found = await export_by_uid(tx, new.uid)
    assert found is not None
    return found


def _job(new: NewExport, replay: ReplayRecord, export_id: int, created_at: int) -> NewJob:
    options = {
        "inputPath": str(PurePosixPath(replay.root, replay.file)),
        "durationMs": replay.duration_ms,
        "ownerId": new.owner,
        "createdAt": iso(created_at, zone_of(new.timezone), "milliseconds"),
        **new.options,
    }
    args = ExportArgs(export_id, new.job_type, new.replay_id, new.root, new.uid, options)
    return NewJob(
        id=new.uid,
        task=task_of(new.job_type),
        args=msgspec.json.encode(args).decode(),
        queue=QUEUE,
        timeout_us=new.timeout_us,
        policy=RetryPolicy(max_retries=0),
    )


async def export_by_uid(tx: Tx, uid: str) -> ExportRecord | None:
    """Return the export that a request with this id has created, if it has."""
    rows = await tx.fetch("export_by_uid", uid)
    return export_record(rows[0]) if rows else None


async def export_of(tx: Tx, owner: str, export_id: int) -> ExportRecord:
    rows = await tx.fetch("export_of", export_id, owner)
    if not rows:
        raise ExportNotFound(export_id)
    return export_record(rows[0])


async def exports_of(
    tx: Tx, owner: str, types: Sequence[JobType], states: Sequence[State], size: int, skip: int
) -> tuple[list[ExportRecord], int]:
    """Return a page of a user's exports, newest first, and how many there are."""
    filter = (owner, to_json(list(types)), to_json(list(states)))
    rows = await tx.fetch("exports_of", *filter, size, skip)
    return [export_record(row) for row in rows], (await tx.fetch("count_exports", *filter))[0]["rows"]


async def cancel_export(tx: Tx, lanes: LaneCache, owner: str, export_id: int) -> ExportRecord:
    """Cancel an export, or have its work stopped. Raises if it ended otherwise."""
    found = await export_of(tx, owner, export_id)
    if found.state in TERMINAL and found.state is not State.CANCELLED:
        raise ExportEnded(export_id, status_of(found.state))
    await cancel.cancel(tx, lanes, found.uid)
    return await export_of(tx, owner, export_id)


async def exports_progressed(tx: Tx, job_id: str, progress: str) -> None:
    """Show the progress of a job in its export; it only grows."""
    found = progress_in(progress)
    if found is None:
        return
    for row in await tx.fetch("progress_export", job_id, found.progress, found.phase, found.message):
        details = {"progress": row["progress"], "phase": found.phase, "message": found.message}
        tx.emit(_event(ExportEventType.PROGRESS, row["now"], row, details))


async def exports_ended(tx: Tx, lanes: LaneCache, ended: Sequence[EndedJob]) -> None:
    """Record the results of exports whose jobs have ended, and have the files deleted that are no results."""
    by_id = {job.id: job for job in ended}
    results = {job.id: result_in(job.result) if job.state is State.SUCCEEDED else None for job in ended}
    rows = [
        {
            "uid": job.id,
            "result_uri": None if (result := results[job.id]) is None else result.resultUri,
            "result_checksum": None if result is None else result.checksum,
            "succeeded": job.state is State.SUCCEEDED,
        }
        for job in ended
    ]
    unwanted = []
    for row in await tx.fetch("end_exports", to_json(rows)):
        job = by_id[str(row["uid"])]
        result = results[job.id]
        unwanted.append(UnwantedFile(row["root"], row["folder"], "" if result is None else _name(result.resultUri)))
        tx.emit(_event(ENDS[job.state], job.finished_at, row, _end_details(job, result)))
    await add_unwanted(tx, unwanted)


def _end_details(job: EndedJob, result: Any) -> dict[str, Any]:
    failed = job.state is State.FAILED
    return {
        "status": status_of(job.state).value,
        "resultUri": None if result is None else result.resultUri,
        "checksum": None if result is None else result.checksum,
        "errorCode": error_code(job.state, job.failure_type),
        "errorMessage": job.error_message if failed else None,
    }


def _name(uri: str) -> str:
    return PurePosixPath(uri).name


def _event(kind: ExportEventType, at: int, row: Any, details: dict[str, Any]) -> Event:
    known = {"jobId": row["id"], "jobType": row["job_type"], "replayId": row["replay_id"], "owner": row["owner"]}
    return Event(type=kind.value, at=at, queue=QUEUE, details={**known, **details})


HOOK = EndHook(PREFIX, exports_ended, "an export", "export the replay again", on_progress=exports_progressed)


def export_record(row: Any) -> ExportRecord:
    values = {name: row[name] for name in ExportRecord.__struct_fields__}
    values["uid"] = str(values["uid"])
    return msgspec.convert(values, ExportRecord, strict=False)
