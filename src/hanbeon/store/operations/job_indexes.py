"""The index by which a search finds its jobs: the only place that says which filter goes by which.

| filter | index |
| --- | --- |
| `id` | the unique index of ids, in `job_search` |
| `key` | lanes by concurrency key; the indexes of idempotency keys, and of unique keys and their past holders |
| `failure_type` | `hanbeon_job_failure`, lane by lane |
| `queue`, `task`, `role` | lanes by each of them; then, lane by lane, the index of each state |
| `state` | without these: the index of what failed or was cancelled, otherwise that of the state, for all lanes |
| `created_after`, `created_before`, `text` | the numbers of jobs, in `job_search` |

Jobs have no index by queue, task or role: each would cost every job more than one by lane, and lanes tell the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Protocol

import msgspec

from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.store.records import ALL_LANES, lane_number
from hanbeon.store.tx import Tx, to_json

LANES_MOST = 10_000
"""How many lanes a search looks into. If more match, it looks at the newest jobs instead, whatever their lane."""
_UNSUCCESSFUL = (State.FAILED, State.CANCELLED)


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
    own: bool = False
    """Only jobs of users' tasks, without those of built-in ones."""


class Index(Protocol):
    """Returns the numbers of the next jobs before one, newest first: fewer than `count` only at the end."""

    async def __call__(self, tx: Tx, before: int, count: int) -> Sequence[int]: ...


class _TooManyLanes(Exception):
    """A search that would look into more lanes than at jobs."""


async def index_for(tx: Tx, search: JobSearch) -> Index | None:
    """Return the index for a search. It may find more than what matches; None: no index is of use."""
    try:
        return await _index_for(tx, search)
    except _TooManyLanes:
        return None


async def _index_for(tx: Tx, search: JobSearch) -> Index | None:
    states = search.states or tuple(State)
    if search.key is not None:
        by_lane = await _by_state(tx, await _lanes_of(tx, search), states)
        return partial(_merged, [partial(_by_key, search.key), *by_lane])
    if search.failure_type is not None:
        return partial(_by_failure, search.failure_type, _lane_rows(await _lanes_of(tx, search)))
    if search.queue is not None or search.task is not None or search.role is not None:
        return partial(_merged, await _by_state(tx, await _lanes_of(tx, search), states))
    if search.states is None:
        return None
    unsuccessful = [partial(_unsuccessful, state) for state in states if state in _UNSUCCESSFUL]
    others = [state for state in states if state not in _UNSUCCESSFUL]
    by_lane = await _by_state(tx, await _lanes_of(tx, search), others) if others else []
    return partial(_merged, [*unsuccessful, *by_lane])


async def _lanes_of(tx: Tx, search: JobSearch) -> list[int]:
    """Return the lanes that match."""
    queue_id = None
    if search.queue is not None:
        found = await tx.fetch("queue_named", search.queue)
        if not found:
            return []
        queue_id = found[0]["id"]
    most, given = LANES_MOST + 1, (queue_id, search.task, search.role)
    if search.key is not None:
        rows = await tx.fetch("search_lanes_of_key", most, *given, search.key)
    elif queue_id is not None:
        rows = await tx.fetch("search_lanes_of_queue", most, *given)
    elif search.task is not None:
        rows = await tx.fetch("search_lanes_of_task", most, *given)
    elif search.role is not None:
        rows = await tx.fetch("search_lanes_of_role", most, *given)
    else:
        rows = await tx.fetch("search_lanes", most)
    if len(rows) == most:
        raise _TooManyLanes
    return [lane_number(row["queue_id"], row["n"]) for row in rows]


async def _by_state(tx: Tx, lanes: Sequence[int], states: Iterable[State]) -> list[Index]:
    """Return the indexes of these states for some lanes."""
    if not lanes:
        return []
    rows = _lane_rows(lanes)
    indexes: list[Index] = []
    for state in states:
        if state in TERMINAL:
            indexes.append(partial(_ended, state, rows))
        elif state is State.PENDING:
            indexes.append(partial(_pending, rows))
        elif state is State.READY:
            ranks = await tx.fetch("search_ready_ranks", rows, LANES_MOST + 1)
            if len(ranks) > LANES_MOST:
                raise _TooManyLanes
            indexes.append(partial(_ready, to_json([{"lane": row["lane"], "rank": row["rank"]} for row in ranks])))
        else:
            indexes.append(partial(_running, frozenset(lanes)))
    return indexes


async def _merged(indexes: Sequence[Index], tx: Tx, before: int, count: int) -> Sequence[int]:
    found: set[int] = set()
    for index in indexes:
        found.update(await index(tx, before, count))
    return sorted(found, reverse=True)[:count]


async def _ended(state: State, lanes: str, tx: Tx, before: int, count: int) -> Sequence[int]:
    return _seqs(await tx.fetch("search_ended", lanes, before, count, state.value))


async def _pending(lanes: str, tx: Tx, before: int, count: int) -> Sequence[int]:
    return _seqs(await tx.fetch("search_pending", lanes, before, count))


async def _ready(ranks: str, tx: Tx, before: int, count: int) -> Sequence[int]:
    return _seqs(await tx.fetch("search_ready", ranks, before, count))


async def _running(among: frozenset[int], tx: Tx, before: int, count: int) -> Sequence[int]:
    found = [row["seq"] for row in await tx.fetch("search_running", *ALL_LANES) if row["lane"] in among]
    return sorted((seq for seq in found if seq < before), reverse=True)[:count]


async def _unsuccessful(state: State, tx: Tx, before: int, count: int) -> Sequence[int]:
    return _seqs(await tx.fetch("search_unsuccessful", state.value, before, count))


async def _by_failure(failure_type: str, lanes: str, tx: Tx, before: int, count: int) -> Sequence[int]:
    return _seqs(await tx.fetch("search_failures", lanes, before, count, failure_type))


async def _by_key(key: str, tx: Tx, before: int, count: int) -> Sequence[int]:
    return _seqs(await tx.fetch("search_keys", key, before, count))


def _lane_rows(lanes: Sequence[int]) -> str:
    return to_json([{"lane": lane} for lane in lanes])


def _seqs(rows: Sequence[Any]) -> list[int]:
    return [row["seq"] for row in rows]
