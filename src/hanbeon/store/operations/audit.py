"""Reads everything, a page at a time, for an audit. Full scans are fine here: this is not a hot path."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from hanbeon.domain.audit.case import AttemptFacts, Case, DependencyFacts, JobFacts
from hanbeon.domain.audit.history import AuditedBatch, Bounds, Trace
from hanbeon.domain.audit.sweep import SlotChange
from hanbeon.domain.event_groups import decode_events
from hanbeon.domain.limits import QueueLimits
from hanbeon.domain.reserved_queues import is_indexed
from hanbeon.store.tx import Tx, to_json

F = TypeVar("F", bound=msgspec.Struct)
_BATCHES_A_PAGE = 100
_JOBS_A_PAGE = 1000
_limits = msgspec.json.Decoder(QueueLimits)


async def bounds(tx: Tx) -> Bounds:
    """Return the extent of the history, and the database's time."""
    row = (await tx.fetch("audit_bounds"))[0]
    return Bounds(now=row["now"], oldest_at=row["oldest_at"], first_id=row["first_id"], last_id=row["last_id"])


async def batches(tx: Tx) -> AsyncIterator[list[AuditedBatch]]:
    """Yield every batch of events, a page at a time: by number, then the unnumbered ones in numbering order."""
    place = (0, 0)
    while rows := await tx.fetch("audit_batches", *place, _BATCHES_A_PAGE):
        yield [_batch(row) for row in rows]
        place = rows[-1]["first_id"], rows[-1]["seq"]
    last = 0
    while rows := await tx.fetch("audit_unnumbered", last, _BATCHES_A_PAGE):
        yield [_batch(row) for row in rows]
        last = rows[-1]["seq"]


async def cases(tx: Tx, after: int, traces: dict[str, Trace]) -> list[Case]:
    """Return the next page of jobs after seq `after`, with their rows. Their traces are removed from `traces`."""
    jobs = await tx.fetch("audit_jobs", after, _JOBS_A_PAGE)
    if not jobs:
        return []
    pages = after, jobs[-1]["seq"]
    attempts = _by_job(await tx.fetch("audit_attempts", *pages), "job")
    edges = _by_job(await tx.fetch("audit_edges", *pages), "dependent")
    return [
        Case(
            job=(job := _facts(JobFacts, row)),
            attempts=[_facts(AttemptFacts, each) for each in attempts.get(job.seq, ())],
            dependencies=[_facts(DependencyFacts, each) for each in edges.get(job.seq, ())],
            trace=traces.pop(job.id, None),
        )
        for row in jobs
    ]


async def current_changes(tx: Tx) -> dict[str, SlotChange]:
    """Return the limits and the pause of each queue's row, and since when."""
    return {
        row["name"]: SlotChange(at=row["changed_at"], limits=_limits.decode(row["limits"]), paused=bool(row["paused"]))
        for row in await tx.fetch("audit_queues")
    }


async def orphans(tx: Tx) -> list[dict[str, Any]]:
    """Return attempts, edges and logs of jobs that do not exist."""
    rows = await tx.fetch("audit_orphans")
    return [{"kind": row["kind"], "job": row["job"], "other": row["other"]} for row in rows]


async def broken_logs(tx: Tx) -> list[dict[str, Any]]:
    """Return log rows that no attempt can have written, grouped by job."""
    names = ("attempt", "fence", "n", "first_line", "lines")
    rows = await tx.fetch("audit_logs")
    return [{"job_id": str(row["id"]), **{name: row[name] for name in names}} for row in rows]


async def broken_dispatches(tx: Tx) -> list[dict[str, Any]]:
    """Return requests of stream tasks that are missing, or that outlive their attempts."""
    rows = await tx.fetch("audit_dispatches")
    return [{"kind": row["kind"], "job_id": row["id"], "job": row["job"], "fence": row["fence"]} for row in rows]


async def doubled_keys(tx: Tx) -> list[dict[str, Any]]:
    """Return jobs that share a unique key, grouped by key."""
    rows = await tx.fetch("audit_doubled_keys")
    return [{"kind": row["kind"], "key": row["key"], "job_id": str(row["id"]), "state": row["state"]} for row in rows]


def _by_job(rows: Sequence[Any], column: str) -> dict[int, list[Any]]:
    return {job: list(group) for job, group in groupby(rows, key=lambda row: row[column])}


def _batch(row: Any) -> AuditedBatch:
    try:
        events = decode_events(row["body"], row["at"])
    except msgspec.DecodeError:
        events = None
    return AuditedBatch(seq=row["seq"], at=row["at"], count=row["count"], first_id=row["first_id"], events=events)


def _facts(kind: type[F], row: Any) -> F:
    values = {name: row[name] for name in kind.__struct_fields__}
    if values.get("id") is not None:
        values["id"] = str(values["id"])
    # Not strict: SQLite has no booleans of its own.
    return msgspec.convert(values, kind, strict=False)


async def unindexed(tx: Tx, batches: Sequence[AuditedBatch]) -> list[dict[str, Any]]:
    """Return those of these batches that are missing from the index of a queue whose events they contain."""
    expected = [
        {"queue": queue, "first_id": batch.first_id, "at": batch.at}
        for batch in batches
        if batch.first_id is not None and batch.events is not None
        for queue in {event.queue for event in batch.events}
        if is_indexed(queue)
    ]
    rows = await tx.fetch("audit_unindexed", to_json(expected)) if expected else []
    return [{"queue": row["queue"], "first_id": row["first_id"], "at": row["at"]} for row in rows]


async def misleading(tx: Tx) -> list[dict[str, Any]]:
    """Return the index entries that should not exist, by queue."""
    return [
        {"queue": row["queue"] or f"#{row['queue_id']}", "first_id": row["first_id"], "at": row["at"]}
        for row in await tx.fetch("audit_indexed")
    ]
