"""Reads everything, a page or a range of jobs at a time, for an audit. Full scans are fine: it is no hot path."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import msgspec

from hanbeon.domain.audit.case import AttemptFacts, Case, DependencyFacts, JobFacts
from hanbeon.domain.audit.history import AuditedBatch, Bounds
from hanbeon.domain.audit.sweep import Lane, SlotChange
from hanbeon.domain.event_groups import decode_events, decode_groups
from hanbeon.domain.limits import QueueLimits
from hanbeon.domain.reserved_queues import is_indexed
from hanbeon.store.tx import Tx, to_json

F = TypeVar("F", bound=msgspec.Struct)
_BATCHES_A_PAGE = 50
_JOBS_A_PAGE = 1000
_JOBS_A_RANGE = 50_000
_ROWS_A_PAGE = 10_000
_FIRST, _LAST = -(2**63), 2**63 - 1
_limits = msgspec.json.Decoder(QueueLimits)


class Window(NamedTuple):
    """The part of a database that is audited: of one queue, and of a time. Jobs count if they ended in that time.

    Without an end of the time, those that have not ended count, too.
    """

    queue: str | None = None
    since: int | None = None
    until: int | None = None

    @property
    def timed(self) -> bool:
        return self.since is not None or self.until is not None


WHOLE = Window()


class Extent(NamedTuple):
    """The history and the jobs that there are to read."""

    bounds: Bounds
    first_job: int
    last_job: int

    def ranges(self) -> list[tuple[int, int]]:
        """Return ranges of jobs, each from after one number to another, that together have every number there is."""
        ends = [*range(self.first_job + _JOBS_A_RANGE, self.last_job + 1, _JOBS_A_RANGE), _LAST]
        return list(zip([_FIRST, *ends], ends, strict=False))


class QueueRow(NamedTuple):
    """A queue's row: its number, its limits and pause since when, and its mark that claims must mind them."""

    id: int
    change: SlotChange
    limited: bool


_SLACK_US = 600 * 1_000_000
"""A transaction may write its events so long after the instants that they tell of."""


async def extent(tx: Tx, window: Window = WHOLE) -> Extent:
    """Return what there is to read, and the database's time. A window cuts the history as pruning does."""
    row = (await tx.fetch("audit_bounds"))[0]
    oldest_at, first_id, last_id = row["oldest_at"], row["first_id"], row["last_id"]
    if window.timed:
        since = _FIRST if window.since is None else window.since
        until = _LAST if window.until is None else window.until + _SLACK_US
        found = (await tx.fetch("audit_window", since, until))[0]
        first_id = found["first_id"] if window.since is not None else first_id
        last_id = found["last_id"] or 0 if window.until is not None else last_id
        oldest_at = max(since, oldest_at) if oldest_at is not None else None
    bounds = Bounds(now=row["now"], oldest_at=oldest_at, first_id=first_id, last_id=last_id)
    return Extent(bounds, row["first_job"] or 0, row["last_job"] or 0)


async def batches(
    tx: Tx, after: tuple[int, int], last_id: int, window: Window = WHOLE
) -> AsyncIterator[list[AuditedBatch]]:
    """Yield every batch of events, a page at a time: by number, then the unnumbered ones in numbering order.

    `after`: the number and the place of the last batch that is known. With a window, none that begins after `last_id`.
    """
    place = after
    while rows := await tx.fetch("audit_batches", *place, _BATCHES_A_PAGE):
        if window.until is not None and rows[-1]["first_id"] > last_id:
            yield [_batch(row) for row in rows if row["first_id"] <= last_id]
            break
        yield [_batch(row) for row in rows]
        place = rows[-1]["first_id"], rows[-1]["seq"]
    last, until = 0, _LAST if window.until is None else window.until + _SLACK_US
    while rows := await tx.fetch("audit_unnumbered", last, _BATCHES_A_PAGE):
        yield [_batch(row) for row in rows if row["at"] < until]
        last = rows[-1]["seq"]


async def cases(tx: Tx, after: int, window: Window = WHOLE, queue: int = 0) -> tuple[int, list[Case]] | None:
    """Return the next page of jobs after seq `after`, with their rows, and where the page ends; None at the end."""
    last = (await tx.fetch("audit_page", after, _JOBS_A_PAGE))[0]["last"]
    if last is None:
        return None
    since = _FIRST if window.since is None else window.since
    until = _LAST if window.until is None else window.until
    jobs = await tx.fetch("audit_jobs", after, last, queue, since, until, int(window.until is None))
    if not jobs:
        return last, []
    pages = after, last
    attempts = _by_job(await tx.fetch("audit_attempts", *pages), "job")
    edges = _by_job(await tx.fetch("audit_edges", *pages), "dependent")
    return last, [
        Case(
            job=(job := _facts(JobFacts, row)),
            attempts=[_facts(AttemptFacts, each) for each in attempts.get(job.seq, ())],
            dependencies=[_facts(DependencyFacts, each) for each in edges.get(job.seq, ())],
        )
        for row in jobs
    ]


async def queues(tx: Tx) -> dict[str, QueueRow]:
    """Return the row of each queue by its name."""
    return {row["name"]: _queue(row) for row in await tx.fetch("audit_queues")}


def _queue(row: Any) -> QueueRow:
    change = SlotChange(at=row["changed_at"], limits=_limits.decode(row["limits"]), paused=bool(row["paused"]))
    return QueueRow(row["id"], change, bool(row["limited"]))


async def lanes(tx: Tx, numbers: Collection[int]) -> Mapping[int, Lane]:
    """Return the roles and the keys of these lanes."""
    rows = await tx.fetch("audit_lanes", to_json(sorted(numbers)))
    return {row["n"]: Lane(row["role"], row["concurrency_key"]) for row in rows}


async def orphans(tx: Tx, after: int, last: int) -> list[dict[str, Any]]:
    """Return attempts, edges, executions and logs in a range of jobs whose job does not exist."""
    rows = await tx.fetch("audit_orphans", after, last)
    return [{"kind": row["kind"], "job": row["job"], "other": row["other"]} for row in rows]


async def lost_ids(tx: Tx) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the ids that lead to no job, a page at a time. Only PostgreSQL keeps ids apart from jobs."""
    after = "00000000-0000-0000-0000-000000000000"
    while rows := await tx.fetch("audit_ids", after, _ROWS_A_PAGE):
        yield [{"kind": "id", "job": row["seq"], "other": str(row["id"])} for row in rows if not row["found"]]
        after = str(rows[-1]["id"])


async def broken_logs(tx: Tx, after: int, last: int, queue: int = 0) -> list[dict[str, Any]]:
    """Return log rows in a range of jobs that no attempt can have written, grouped by job."""
    names = ("attempt", "fence", "n", "first_line", "lines", "claimed")
    rows = await tx.fetch("audit_logs", after, last, queue)
    return [{"job_id": str(row["id"]), **{name: row[name] for name in names}} for row in rows]


async def broken_dispatches(tx: Tx, after: int, last: int) -> list[dict[str, Any]]:
    """Return requests of stream tasks that are missing, or that outlive their attempts, in a range of jobs."""
    rows = await tx.fetch("audit_dispatches", after, last)
    return [{"kind": row["kind"], "job_id": row["id"], "job": row["job"], "fence": row["fence"]} for row in rows]


async def keys(tx: Tx, seqs: Collection[int]) -> list[dict[str, Any]]:
    """Return the keys that these jobs hold, grouped by key."""
    found = [
        {"kind": kind, "key": row[kind], "job_id": str(row["id"]), "state": row["state"]}
        for row in await tx.fetch("audit_keys", to_json(sorted(seqs)))
        for kind in ("idempotency_key", "unique_key")
        if row[kind] is not None
    ]
    return sorted(found, key=lambda row: (row["kind"], row["key"], row["job_id"]))


def _by_job(rows: Sequence[Any], column: str) -> dict[int, list[Any]]:
    return {job: list(group) for job, group in groupby(rows, key=lambda row: row[column])}


def _batch(row: Any) -> AuditedBatch:
    batch = AuditedBatch(seq=row["seq"], at=row["at"], count=row["count"], first_id=row["first_id"])
    try:
        groups = decode_groups(row["body"])
        if groups is not None:
            return msgspec.structs.replace(batch, groups=groups)
        return msgspec.structs.replace(batch, events=decode_events(row["body"], row["at"]))
    except msgspec.DecodeError:
        return batch


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
        if batch.first_id is not None
        for queue in sorted(batch.queues)
        if is_indexed(queue)
    ]
    rows = await tx.fetch("audit_unindexed", to_json(expected)) if expected else []
    return [{"queue": row["queue"], "first_id": row["first_id"], "at": row["at"]} for row in rows]


async def misleading(tx: Tx) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the index entries that should not exist, by queue, a page at a time."""
    place = (_FIRST, 0)
    while rows := await tx.fetch("audit_indexed", *place, _ROWS_A_PAGE):
        yield [
            {"queue": row["queue"] or f"#{row['queue_id']}", "first_id": row["first_id"], "at": row["at"]}
            for row in rows
            if row["misleads"]
        ]
        place = rows[-1]["queue_id"], rows[-1]["first_id"]
