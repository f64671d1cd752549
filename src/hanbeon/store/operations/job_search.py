"""A search over all jobs, newest first, that looks at a bounded number of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.failures import Failure
from hanbeon.domain.job import JobRecord, is_id
from hanbeon.domain.lifecycle import State
from hanbeon.store.operations.pages import fitting, keyed
from hanbeon.store.records import job_record
from hanbeon.store.tx import Tx, in_parts, to_json

LOOKED_AT_MOST = 50_000
"""How many jobs a page looks at; contract and documentation name it."""
LINKS_MOST = 1_000
_FAILURES_MOST = 10_000
_SEQS_A_STATEMENT = 1_000
_BEYOND = 2**63 - 1
_DISORDER_US = 3_600 * 1_000_000
"""Jobs are numbered in the order of their creation, but for the clocks of transactions that overlapped."""
_UNSUCCESSFUL = frozenset((State.FAILED, State.CANCELLED))


class JobSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Selects jobs; an omitted field matches all. Instants are microseconds."""

    states: tuple[State, ...] | None = None
    queue: str | None = None
    task: str | None = None
    role: str | None = None
    key: str | None = None
    id: str | None = None
    """An id, or the beginning of one."""
    text: str | None = None
    failure_type: str | None = None
    created_after: int | None = None
    created_before: int | None = None


class Found(NamedTuple):
    """A page. `cursor`: where the next one continues; None at the end, and never because nothing was found."""

    jobs: list[JobRecord]
    cursor: int | None


class LinkedJob(msgspec.Struct, frozen=True):
    id: str
    task: str
    state: State


async def search_jobs(tx: Tx, search: JobSearch, before: int | None, limit: int) -> Found:
    """Return the next jobs before the cursor, newest first."""
    top = _BEYOND if before is None else before
    if search.id is not None:
        if not is_id(_id_range(search.id)[0]):
            return Found([], None)
        if (found := await _by_id(tx, search, top, limit)) is not None:
            return found
    if search.created_before is not None:
        top = min(top, await first_after(tx, search.created_before + _DISORDER_US))
    floor = 0
    if search.created_after is not None:
        floor = await first_after(tx, search.created_after - _DISORDER_US) - 1
    if search.states is not None and _UNSUCCESSFUL.issuperset(search.states):
        return await _unsuccessful(tx, search, floor, top, limit)
    end = await tx.fetch("search_end", top, LOOKED_AT_MOST - 1)
    lowest = max(floor, end[0]["seq"] - 1 if end else 0)
    rows = await tx.fetch("search_jobs", lowest, top, *_values(search), limit + 1)
    return await _page(tx, rows, limit, lowest + 1 if end and lowest > floor else None)


async def _unsuccessful(tx: Tx, search: JobSearch, floor: int, top: int, limit: int) -> Found:
    """By the index of failed and cancelled jobs, however many succeeded between them."""
    seqs: list[int] = []
    for state in search.states or ():
        seqs += [row["seq"] for row in await tx.fetch("search_unsuccessful", state.value, top, LOOKED_AT_MOST)]
    seqs = sorted((seq for seq in seqs if seq > floor), reverse=True)[:LOOKED_AT_MOST]
    rows: list[Any] = []
    for part in in_parts(seqs, _SEQS_A_STATEMENT):
        rows += await tx.fetch("search_jobs_among", to_json(part), *_values(search), limit + 1 - len(rows))
        if len(rows) > limit:
            break
    return await _page(tx, rows, limit, seqs[-1] if len(seqs) == LOOKED_AT_MOST else None)


async def _by_id(tx: Tx, search: JobSearch, top: int, limit: int) -> Found | None:
    """By the index of ids, in which those with the same beginning are adjacent; None if there are too many of them.

    Ids begin with the time, so that the beginning of one may be that of all jobs of some weeks.
    """
    rows = await tx.fetch("jobs_in_id_range", *_id_range(search.id or ""), LOOKED_AT_MOST + 1)
    if len(rows) > LOOKED_AT_MOST:
        return None
    seqs = sorted((row["seq"] for row in rows if row["seq"] < top), reverse=True)
    return await _page(tx, await tx.fetch("search_jobs_among", to_json(seqs), *_values(search), limit + 1), limit, None)


async def _page(tx: Tx, rows: Sequence[Any], limit: int, cursor: int | None) -> Found:
    """Read the jobs that fit into a page. `cursor`: where the search goes on if all of them do."""
    kept = fitting(keyed(rows, "seq"), limit)
    found = await tx.fetch("jobs_by_seq", to_json(list(kept.items))) if kept.items else []
    jobs = [job_record(row) for row in reversed(found)]
    # One that was pruned in between is missing; the cursor is that of the last one looked at all the same.
    return Found(jobs, kept.items[-1] if kept.more else cursor)


def _values(search: JobSearch) -> tuple[object, ...]:
    states = None if search.states is None else to_json(search.states)
    return (
        *(states, search.queue, search.task, search.role, search.key, search.failure_type),
        *(search.created_after, search.created_before, search.text),
        *((None, None) if search.id is None else _id_range(search.id)),
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
