"""The numbers of a whole installation, as few statements: open pages ask for them again and again."""

from __future__ import annotations

from typing import NamedTuple

from hanbeon.domain.lifecycle import State
from hanbeon.store.operations import queries, tallies
from hanbeon.store.operations.queues import QueuePage, queues_after, queues_by_id
from hanbeon.store.tx import Tx


class LateQueue(NamedTuple):
    """A queue that is not paused, and how long its oldest ready job has waited."""

    name: str
    waited_us: int


class Overview(NamedTuple):
    at: int
    states: dict[State, int]
    queues: int
    oldest_ready_us: int | None
    late: list[LateQueue]
    """The longest wait first."""
    workers: int
    slots: int


async def read_overview(tx: Tx, alive_within_us: int, late_us: int, batches: tallies.UnfoldedBatches) -> Overview:
    """Return the numbers of the whole installation; the cost depends neither on jobs nor on idle queues.

    `late_us`: the wait from which on a queue is late.
    """
    states = await tallies.counts(tx, None, batches)
    waits = await tallies.longest_waits(tx) if states[State.READY] > 0 else {}
    slow = [queue_id for queue_id, waited in waits.items() if waited > late_us]
    late = [LateQueue(each.name, waits[each.id]) for each in await queues_by_id(tx, slow) if not each.paused]
    capacity = (await tx.fetch("capacity", alive_within_us))[0]
    return Overview(
        at=await queries.now_us(tx),
        states=states,
        queues=(await tx.fetch("queue_count"))[0]["queues"],
        oldest_ready_us=max(waits.values(), default=None),
        late=sorted(late, key=lambda each: -each.waited_us),
        workers=capacity["workers"],
        slots=capacity["slots"],
    )


async def queue_page(
    tx: Tx, after: str, limit: int, window_us: int, like: str | None, batches: tallies.UnfoldedBatches
) -> QueuePage:
    """Return the queues that follow this name and hold the text `like`, with their statistics."""
    page = await queues_after(tx, after, limit, like)
    numbers = await tallies.statistics_of(tx, {each.id: each.name for each in page.items}, window_us, batches)
    return QueuePage(page, numbers, await queries.now_us(tx))
