"""A search over all jobs, newest first, that looks at a bounded number of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from hanbeon.domain.failures import Failure
from hanbeon.domain.job import JobRecord, is_id
from hanbeon.domain.lifecycle import State
from hanbeon.store.operations.job_indexes import Index, JobSearch, index_for
from hanbeon.store.operations.pages import fit_page, keyed
from hanbeon.store.records import job_record
from hanbeon.store.tx import Tx, in_parts, to_json

LOOKED_AT_MOST = 50_000
"""How many jobs a page looks at; contract and documentation name it."""
LINKS_MOST = 1_000
_FAILURES_MOST = 10_000
_SEQS_A_STATEMENT = 1_000
_BEYOND = 2**63 - 1
_DISORDER_US = 60 * 1_000_000
"""Jobs are numbered in the order of their creation, but for statements that overlapped: none takes so long."""


class Found(NamedTuple):
    """A page. `cursor`: where the next one continues; None at the end, and never because nothing was found."""

    jobs: list[JobRecord]
    cursor: str | None


class LinkedJob(msgspec.Struct, frozen=True):
    id: str
    task: str
    state: State


async def search_jobs(tx: Tx, search: JobSearch, cursor: str | None, limit: int) -> Found:
    """Return the next jobs behind the cursor, newest first.

    The cursor is the number of a job; with `id` it is an id, and the order that of ids, which begin with the time.
    """
    if search.id is not None:
        return await _by_id(tx, search, search.id, cursor, limit)
    top = _BEYOND if cursor is None else int(cursor)
    if search.created_before is not None:
        top = min(top, await first_after(tx, search.created_before + _DISORDER_US))
    floor = 0
    if search.created_after is not None:
        floor = await first_after(tx, search.created_after - _DISORDER_US) - 1
    index = await index_for(tx, search)
    if index is not None:
        return await _by_index(tx, search, index, floor, top, limit)
    return await _by_number(tx, search, floor, top, limit)


async def _by_number(tx: Tx, search: JobSearch, floor: int, top: int, limit: int) -> Found:
    """Look at all jobs, in growing parts."""
    rows: list[Any] = []
    looked_at, count = 0, min(limit + 1, LOOKED_AT_MOST)
    while True:
        end = await tx.fetch("search_end", top, count - 1)
        lowest = max(floor, end[0]["seq"] - 1 if end else 0)
        rows += await tx.fetch("search_jobs", lowest, top, *_values(search), limit + 1 - len(rows))
        if len(rows) > limit or not end or lowest == floor:
            return await _page(tx, rows, limit, None)
        top = lowest + 1
        looked_at += count
        if looked_at >= LOOKED_AT_MOST:
            return await _page(tx, rows, limit, str(top))
        count = min(4 * count, LOOKED_AT_MOST - looked_at)


async def _by_index(tx: Tx, search: JobSearch, index: Index, floor: int, top: int, limit: int) -> Found:
    """Look at what the index finds, in growing parts: where it decides alone, the first part fills the page."""
    rows: list[Any] = []
    looked_at, count = 0, min(limit + 1, LOOKED_AT_MOST)
    while True:
        seqs = await index(tx, top, count)
        within = [seq for seq in seqs if seq > floor]
        rows += await _matching(tx, search, within, limit + 1 - len(rows))
        if len(rows) > limit or len(within) < count:
            return await _page(tx, rows, limit, None)
        top = seqs[-1]
        looked_at += count
        if looked_at >= LOOKED_AT_MOST:
            return await _page(tx, rows, limit, str(top))
        count = min(4 * count, LOOKED_AT_MOST - looked_at)


async def _by_id(tx: Tx, search: JobSearch, beginning: str, cursor: str | None, limit: int) -> Found:
    """Go by the index of ids, in which those with the same beginning are adjacent."""
    low, high = _id_range(beginning)
    if not is_id(low):
        return Found([], None)
    high = high if cursor is None else min(high, _before(cursor))
    rows: list[Any] = []
    ids: dict[int, str] = {}
    looked_at, count = 0, min(limit + 1, LOOKED_AT_MOST)
    while True:
        part = {row["seq"]: str(row["id"]) for row in await tx.fetch("jobs_in_id_range", low, high, count)}
        ids |= part
        rows += sorted(
            await _matching(tx, search, list(part), len(part)), key=lambda row: ids[row["seq"]], reverse=True
        )
        last = min(part.values(), default=low)
        if len(rows) > limit or len(part) < count or last == low:
            return await _page(tx, rows, limit, None, ids)
        high = _before(last)
        looked_at += count
        if looked_at >= LOOKED_AT_MOST:
            return await _page(tx, rows, limit, last, ids)
        count = min(4 * count, LOOKED_AT_MOST - looked_at)


async def _matching(tx: Tx, search: JobSearch, seqs: Sequence[int], most: int) -> list[Any]:
    rows: list[Any] = []
    for part in in_parts(seqs, _SEQS_A_STATEMENT):
        rows += await tx.fetch("search_jobs_among", to_json(part), *_values(search), most - len(rows))
        if len(rows) == most:
            break
    return rows


async def _page(
    tx: Tx, rows: Sequence[Any], limit: int, cursor: str | None, ids: Mapping[int, str] | None = None
) -> Found:
    """Read the jobs that fit into a page. `cursor`: where the search goes on if all of them do."""
    kept = fit_page(keyed(rows, "seq"), limit)
    found = await tx.fetch("jobs_by_seq", to_json(list(kept.items))) if kept.items else []
    records = {row["seq"]: job_record(row) for row in found}
    if kept.more:
        # One that was pruned in between is missing; the cursor is that of the last one looked at all the same.
        cursor = str(kept.items[-1]) if ids is None else ids[kept.items[-1]]
    return Found([records[seq] for seq in kept.items if seq in records], cursor)


def _values(search: JobSearch) -> tuple[object, ...]:
    states = None if search.states is None else to_json(search.states)
    return (
        *(states, search.queue, search.task, search.role, search.key, search.failure_type),
        *(search.created_after, search.created_before, search.text),
        *((None, None) if search.id is None else _id_range(search.id)),
        int(search.own),
    )


async def first_after(tx: Tx, instant: int) -> int:
    """Return the number of the first job created after an instant, by bisection: creation times have no index."""
    last = await tx.fetch("job_before", _BEYOND)
    if not last:
        return 1
    low: int = 0
    high: int = last[0]["seq"] + 1  # The job numbered `low` is not after it; the one numbered `high` is.
    while high - low > 1:
        middle = (low + high) // 2
        found = await tx.fetch("job_before", middle)
        if not found or found[0]["seq"] <= low or found[0]["created_at"] <= instant:
            low = middle
        else:
            high = found[0]["seq"]
    return high


def _id_range(beginning: str) -> tuple[str, str]:
    """Return the lowest and the highest id with this beginning."""
    rest = "00000000-0000-0000-0000-000000000000"[len(beginning) :]
    return beginning + rest, beginning + rest.replace("0", "f")


def _before(job_id: str) -> str:
    """Return the id before this one, in the order of ids."""
    return str(UUID(int=max(0, UUID(job_id).int - 1)))


async def latest_failures(tx: Tx, within_us: int) -> list[Failure]:
    """Return the failures of this span, the latest 10,000 at most."""
    since = (await tx.fetch("now"))[0]["now"] - within_us
    rows = await tx.fetch("latest_failures", since, _FAILURES_MOST)
    return [
        Failure(str(row["id"]), row["task"], row["failure_type"] or "error", row["message"] or "", row["finished_at"])
        for row in rows
    ]


async def dependents_of(tx: Tx, seq: int) -> list[LinkedJob]:
    """Return the jobs that wait for this one, the first thousand."""
    return await _linked(tx, await tx.fetch("dependent_seqs", seq, LINKS_MOST))


async def dependencies_of(tx: Tx, seq: int) -> list[LinkedJob]:
    """Return the jobs that this one waits for, the first thousand."""
    return await _linked(tx, await tx.fetch("dependency_seqs", seq, LINKS_MOST))


async def _linked(tx: Tx, rows: Sequence[Any]) -> list[LinkedJob]:
    found = await tx.fetch("linked_jobs", to_json([row["seq"] for row in rows])) if rows else []
    return [LinkedJob(str(row["id"]), row["task"], State(row["state"])) for row in found]


_NEWEST = 100
_DONE = (State.SUCCEEDED,)


async def mean_runs_us(tx: Tx, queue: str, lanes: Collection[tuple[str, str]]) -> dict[tuple[str, str], int | None]:
    """Return the mean run of each task's jobs of a role in the queue; without any, of its jobs elsewhere, or None.

    `lanes`: tasks and roles. Elsewhere is looked for once for a task, however many roles it has.
    """
    found: dict[tuple[str, str], int | None] = {}
    elsewhere: dict[str, int | None] = {}
    for task, role in lanes:
        seqs = await _newest(tx, JobSearch(queue=queue, task=task, role=role, states=_DONE))
        if seqs:
            found[task, role] = await _mean(tx, seqs)
            continue
        if task not in elsewhere:
            elsewhere[task] = await _mean(tx, await _newest(tx, JobSearch(task=task, states=_DONE)))
        found[task, role] = elsewhere[task]
    return found


async def _newest(tx: Tx, search: JobSearch) -> Collection[int]:
    index = await index_for(tx, search)
    return await index(tx, _BEYOND, _NEWEST) if index is not None else ()


async def _mean(tx: Tx, seqs: Collection[int]) -> int | None:
    if not seqs:
        return None
    mean = (await tx.fetch("mean_run", to_json(seqs)))[0]["mean"]
    return None if mean is None else round(mean)
