"""Cancels of all jobs that match a filter, in transactions of a bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hanbeon.errors import NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.operations.cancel import ALL_JOBS, CancelFilter, cancel_these, matching
from hanbeon.store.operations.queries import lanes_of
from hanbeon.store.turns import in_turns

if TYPE_CHECKING:
    from hanbeon.store.store import Store


async def cancel_where(store: Store, filter: CancelFilter) -> list[str]:
    """Cancel all jobs that match now, in batches; return the accepted ids in creation order."""
    return (await cancel_newest(store, filter, ALL_JOBS))[0]


async def cancel_newest(store: Store, filter: CancelFilter, most: int) -> tuple[list[str], bool]:
    """Cancel up to `most` of the jobs that match now, in batches; return the accepted ids, and if more match.

    Newest first: a job that waits for another of them is cancelled before that one's end could fail it.
    """
    lanes = await _lanes(store, filter.queue)
    found = await store.read(lambda tx: matching(tx, lanes, filter, most))

    async def cancel(seqs: Sequence[int]) -> list[str]:
        return await store.write(lambda tx: cancel_these(tx, store.lanes, seqs, filter.states))

    accepted = await in_turns(found.seqs[::-1], cancel)
    return [job_id for ids in reversed(accepted) for job_id in ids], found.more


async def count_unfinished(store: Store, filter: CancelFilter) -> int:
    """Count the jobs that `cancel_where` would find now."""
    lanes = await _lanes(store, filter.queue)
    return len((await store.read(lambda tx: matching(tx, lanes, filter))).seqs)


async def _lanes(store: Store, queue: str | None) -> tuple[int, int]:
    lanes = await store.read(lambda tx: lanes_of(tx, queue))
    if lanes is None:
        raise NotFound(Rule("queue_not_found", queue=quoted(queue)))
    return lanes
