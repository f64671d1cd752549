"""Retention: deletes old rows, in small batches that block nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from hanbeon.domain.events import PRUNED, Event
from hanbeon.domain.lifecycle import State
from hanbeon.domain.retention import SeenClock, observe
from hanbeon.domain.totals import PRUNED as PRUNED_ROWS
from hanbeon.store.operations.access import prune_logins
from hanbeon.store.operations.idempotency import prune_responses
from hanbeon.store.operations.job_search import first_after
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.queues import count_left_queues, drop_left_queues
from hanbeon.store.operations.retention import AgedRows, Retention
from hanbeon.store.operations.tallies import coarsen, index_entries
from hanbeon.store.operations.totals import add_totals, gather_totals
from hanbeon.store.records import LANE_MASK
from hanbeon.store.tx import Tx, to_json

UNUSED_US = 24 * 3_600 * 1_000_000
"""How long a lane must be unused, beyond the retention of jobs. Caches rely on one for an hour at the most."""
_OLD_JOBS_MOST = 10_000


async def drop_unused_lanes(tx: Tx, older_than_us: int, limit: int) -> int:
    """Delete up to `limit` lanes without jobs; return how many.

    Whatever job a lane has that is unused for so long was created before `older_than_us` ago. Few of those are left:
    the rest has been pruned. So they are read, instead of the indexes of each state for every lane.
    """
    age = older_than_us + UNUSED_US
    unused = {row["n"] for row in await tx.fetch("unused_lanes", age, limit)}
    if not unused:
        return 0
    now: int = (await tx.fetch("now"))[0]["now"]
    old = await tx.fetch("lanes_of_old_jobs", await first_after(tx, now - older_than_us), _OLD_JOBS_MOST + 1)
    if len(old) > _OLD_JOBS_MOST:
        return 0
    needed = unused & {row["lane"] & LANE_MASK for row in old}
    if needed:
        await tx.fetch("touch_lanes", to_json(sorted(needed)))  # So that they are not looked at again every time.
    return len(await tx.fetch("drop_unused_lanes", to_json(sorted(unused - needed)), age))


TIMINGS_KEPT_US = 7 * 86_400 * 1_000_000
_TIMINGS_A_STEP_US = 3_600 * 1_000_000
_LOG_CHUNKS_A_STEP = 1_000


async def count_prunable(tx: Tx, parts: Sequence[Retention] | None, older_than_us: int) -> dict[str, int]:
    """Return the number of rows of each kind that are old enough to be deleted."""
    row = (await tx.fetch("count_prunable", older_than_us))[0]
    jobs = {found["queue_id"]: found["jobs"] for found in await tx.fetch("count_prunable_jobs", older_than_us)}
    counted = {"jobs": sum(jobs.values()), "events": row["events"]}
    for each in _aged(_whole(parts)):
        if each.count is not None:
            counted[each.kind] = await each.count(tx, older_than_us)
    counted |= {"instances": row["instances"], "queues": await count_left_queues(tx, older_than_us, jobs)}
    return counted


class Retained(NamedTuple):
    """How many rows were pruned, and how far the trusted time is behind the clock."""

    pruned: int = 0
    lag_us: int = 0


async def retain(
    tx: Tx, lanes: LaneCache, parts: Sequence[Retention] | None, retention_us: int, every_us: int, limit: int
) -> Retained:
    """Prune rows past their retention by the trusted clock (`observe`), one instance at a time."""
    rows = await tx.fetch("lock_clock")
    if not rows:
        return Retained()
    row = rows[0]
    seen = SeenClock(row["trusted_at"], row["steady_since"], row["seen_at"])
    clock = observe(seen, row["now"], retention_us, every_us)
    await tx.fetch("set_clock", *clock)
    lag_us = clock.seen_at - clock.trusted_at
    pruned = await prune(tx, lanes, parts, retention_us, limit, lag_us)
    # Only here: by a clock that has jumped, lanes that others rely on would look unused.
    dropped = await drop_unused_lanes(tx, retention_us + lag_us, limit)
    if dropped:
        await add_totals(tx, {PRUNED_ROWS.of("lanes"): dropped})
    return Retained(pruned + dropped, lag_us)


async def prune(
    tx: Tx, lanes: LaneCache, parts: Sequence[Retention] | None, older_than_us: int, limit: int, lag_us: int = 0
) -> int:
    """Delete up to `limit` finished jobs with their rows, and as many of each other kind; return how many rows.

    A job that an unfinished one depends on is kept. `parts` are those of all surfaces. Ages count from `lag_us` ago.
    """
    older_than_us += lag_us
    jobs = [row["seq"] for row in await tx.fetch("prunable_jobs", older_than_us, limit)]
    if jobs:
        # Checked again now that the rows are locked: a dependent enqueued since then has committed and is visible.
        needed = {row["seq"] for row in await tx.fetch("depended_on", to_json(jobs))}
        jobs = [seq for seq in jobs if seq not in needed]
    chunks = 0
    if jobs:
        jobs, chunks = await _with_few_logs(tx, jobs)
        await delete_jobs(tx, lanes, [statement for part in _whole(parts) for statement in part.of_jobs], jobs)
    events = await tx.fetch("prune_events", older_than_us, limit)
    if indexed := index_entries(events):
        await tx.fetch("prune_queue_batches", to_json(indexed))
    aged = {each.kind: await each.delete(tx, older_than_us, limit) for each in _aged(_whole(parts))}
    gone = await tx.fetch("prune_instances", older_than_us)
    timings = await tx.fetch("prune_timings", TIMINGS_KEPT_US + lag_us, _TIMINGS_A_STEP_US)
    await coarsen(tx, limit)
    queues = await drop_left_queues(tx, older_than_us)
    deleted = {
        "jobs": len(jobs),
        "logs": chunks,
        "event_batches": len(events),
        "instances": len(gone),
        "timings": len(timings),
        "queues": queues,
        "responses": await prune_responses(tx, limit, lag_us),
        "logins": await prune_logins(tx, limit, lag_us),
        **aged,
    }
    if any(deleted.values()):
        await add_totals(tx, {PRUNED_ROWS.of(kind): number for kind, number in deleted.items()})
        await tx.fetch("note_pruned", older_than_us)
    await gather_totals(tx)
    return sum(deleted.values())


async def delete_jobs(tx: Tx, lanes: LaneCache, statements: Sequence[str], seqs: Sequence[int]) -> None:
    """Delete finished jobs that no other depends on; `statements` delete the rows that surfaces keep beside them."""
    body = to_json(list(seqs))
    await tx.fetch("prune_logs", body)
    await tx.fetch("prune_edges", body)
    await tx.fetch("drop_unmet", body)
    await tx.fetch("prune_attempts", body)
    await tx.fetch("prune_exceptions", body)
    await tx.fetch("prune_hand_moves", body)
    await tx.fetch("prune_expiries", body)
    await tx.fetch("prune_traces", body)
    for statement in statements:
        await tx.fetch(statement, body)
    await _emit(tx, lanes, await tx.fetch("prune_jobs", body))


def _whole(parts: Sequence[Retention] | None) -> Sequence[Retention]:
    assert parts is not None, "rows of surfaces would stay behind; see `surfaces/store_parts.py`"
    return parts


def _aged(parts: Sequence[Retention]) -> list[AgedRows]:
    return [each for part in parts for each in part.aged]


async def _with_few_logs(tx: Tx, jobs: list[int]) -> tuple[list[int], int]:
    """Return the first of these jobs, up to a limit of log rows; and the number of these rows.

    Logs are large: deleting all in one step would occupy the disk, and on SQLite the write lock.
    """
    sizes = {row["job"]: row["chunks"] for row in await tx.fetch("log_sizes", to_json(jobs))}
    chunks = 0
    for place, seq in enumerate(jobs, start=1):
        chunks += sizes.get(seq, 0)
        if chunks >= _LOG_CHUNKS_A_STEP:
            return jobs[:place], chunks
    return jobs, chunks


async def _emit(tx: Tx, lanes: LaneCache, rows: Sequence[Any]) -> None:
    """Emit one event per queue: how many were deleted per state, and the total run time of the succeeded ones."""
    await lanes.learn(tx, [row["lane"] for row in rows])
    queues: dict[str, list[Any]] = {}
    for row in rows:
        queues.setdefault(lanes.name(row["lane"]).queue, []).append(row)
    for queue, gone in sorted(queues.items()):
        ran = sum(
            max(0, row["finished_at"] - row["started_at"])
            for row in gone
            if row["state"] == State.SUCCEEDED.value and row["started_at"] is not None
        )
        details = {"states": dict(Counter(row["state"] for row in gone)), "ran": ran}
        tx.emit(Event(type=PRUNED, at=gone[0]["now"], queue=queue, details=details))
