"""Events: written in batches, numbered in commit order, and read by number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.event_groups import decode_events
from hanbeon.domain.events import Event, moved
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.reserved_queues import is_indexed
from hanbeon.domain.tally import tally
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.pages import Slice, fit_page, keyed
from hanbeon.store.tx import Tx, in_parts, to_json

_BATCH_SIZE, _BATCH_BYTES = 1000, 1_048_576
_NO_JOB_ID = '"job_id":""'


async def write_events(tx: Tx, events: Sequence[Event]) -> None:
    """Append a transaction's events with their deltas of the tallies: one batch, or several of a bounded size.

    They keep their order: batches of one transaction are numbered in storage order.
    """
    for part in in_parts(events, _BATCH_SIZE):
        for batch, body in _bounded(part):
            deltas = tally(batch)
            await _insert(tx, len(batch), body, to_json(deltas) if deltas else None)


def _bounded(events: Sequence[Event]) -> Iterator[tuple[Sequence[Event], str]]:
    """Halve a batch until it is short enough to be read as a whole: an event may name thousands of dependencies."""
    body = to_json(events)
    if len(body) <= _BATCH_BYTES or len(events) == 1:
        yield events, body
        return
    half = len(events) // 2
    yield from _bounded(events[:half])
    yield from _bounded(events[half:])


async def write_alike(tx: Tx, kinds: Sequence[Event], numbers: Sequence[int], job_ids: Sequence[str]) -> None:
    """Like `write_events`, for many events of few kinds: for each job, the event of its kind with the job's id.

    `numbers` is the index of each job's kind in `kinds`.
    """
    texts = [around_job_id(event) for event in kinds]
    for part in in_parts(list(zip(numbers, job_ids, strict=True)), _BATCH_SIZE):
        body = ",".join([f"{texts[number][0]}{job_id}{texts[number][1]}" for number, job_id in part])
        deltas = tally(kinds[number] for number, _ in part)
        await _insert(tx, len(part), f"[{body}]", to_json(deltas))
    tx.count_moves(len(job_ids))


async def _insert(tx: Tx, count: int, body: str, delta: str | None) -> None:
    await tx.fetch("insert_events", count, body, delta)
    if not tx.has_round_trips:
        await tx.fetch("add_to_event_counter", count)  # SQLite numbers them with the insertion.


def around_job_id(event: Event) -> tuple[str, str]:
    """Return the JSON of an event before and after the job's id. JSON escapes quotes, so the split is unambiguous."""
    before, _, after = to_json(msgspec.structs.replace(event, job_id="")).partition(_NO_JOB_ID)
    return f"{before}{_NO_JOB_ID[:-1]}", f'"{after}'


async def number_events(tx: Tx, limit: int = 1000) -> int:
    """Number the batches that have committed since the last time; return how many.

    Only one transaction at a time can: it locks the counter's row until its commit. A batch that it does not see has
    not committed yet and gets a later number, so no reader ever waits for a gap to be filled.
    """
    last: int = (await tx.fetch("lock_event_counter"))[0]["last_id"]
    rows = await tx.fetch("unnumbered_events", limit)
    if not rows:
        return 0
    numbered = []
    for row in rows:
        numbered.append({"seq": row["seq"], "first_id": last + 1})
        last += row["count"]
    await tx.fetch("number_events", to_json(numbered))
    await tx.fetch("advance_event_counter", last)
    return len(rows)


async def events_after(tx: Tx, after: int, batches: int = 100, queue: str | None = None) -> list[Event]:
    """Return the events with greater numbers, in order: all of the next `batches` batches, or of those that fit a page.

    `queue` is for a reader of that queue only: if its events are indexed, batches without any are skipped unread,
    except those that are not folded yet. The result may still contain events of other queues.
    """
    if queue is None or not is_indexed(queue):
        rows = await tx.fetch("events_after", after, batches)
    else:
        rows = await tx.fetch("events_of_queue", queue, after, batches)
        if len(rows) < batches:
            folded: int = (await tx.fetch("folded_to"))[0]["folded_to"]
            rows = [*rows, *await tx.fetch("events_after", max(after, folded), batches - len(rows))]
    page: Slice[int] = fit_page(keyed(rows, "first_id"), batches)
    rows = await tx.fetch("event_bodies", to_json(page.items)) if page.items else []
    return [
        msgspec.structs.replace(event, id=row["first_id"] + offset)
        for row in rows
        for offset, event in enumerate(decode_events(row["body"], row["at"]))
        if row["first_id"] + offset > after
    ]


class EventBounds(NamedTuple):
    """The kept and numbered events: from `first_kept` to `last`, none if that is less."""

    first_kept: int
    last: int


async def event_bounds(tx: Tx) -> EventBounds:
    (row,) = await tx.fetch("event_bounds")
    return EventBounds(row["first_kept"], row["last_id"])


async def last_event_id(tx: Tx) -> int:
    last: int = (await tx.fetch("last_event_id"))[0]["last_id"]
    return last


async def last_change(tx: Tx) -> tuple[int | None, int]:
    """Return what differs after every commit with events; the same for two views says that none came between them."""
    found = (await tx.fetch("last_change"))[0]
    return found["last_batch"], found["last_id"]


async def emit(
    tx: Tx,
    lanes: LaneCache,
    rows: Sequence[Any],
    reason: Reason,
    state: State,
    *,
    was: Mapping[int, State] | None = None,
    of_attempts: bool = False,
    **details: Any,
) -> None:
    """Emit one event per row, in creation order; with its fence if the move is one of an attempt.

    `was` maps seq to the previous state, where the lifecycle allows more than one.
    """
    await lanes.learn(tx, [row["lane"] for row in rows])
    for row in sorted(rows, key=lambda row: row["seq"]):
        name = lanes.name(row["lane"])
        tx.emit(
            moved(
                reason,
                at=row["now"],
                queue=name.queue,
                job_id=str(row["id"]),
                task=name.task,
                state=state,
                was=None if was is None else was[row["seq"]],
                attempt=row["fence"] if of_attempts else None,
                **details,
            )
        )
