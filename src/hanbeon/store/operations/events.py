"""Events get their public numbers in commit order and are read by them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hanbeon.domain.events import Event
from hanbeon.domain.offices import office_of_queue
from hanbeon.domain.tally import tally
from hanbeon.store.tx import Tx, in_parts, to_json

_A_BATCH = 1000
_NO_JOB_ID = '"job_id":""'
_bodies = msgspec.json.Decoder(list[Event])


async def write_events(tx: Tx, events: Sequence[Event]) -> None:
    """Append a transaction's events, with what they change in the tallies: a batch, or a few of a bounded size.

    They keep their order: batches of one transaction are numbered by where they lie.
    """
    for batch in in_parts(events, _A_BATCH):
        deltas = tally(batch)
        await tx.fetch("insert_events", len(batch), to_json(batch), to_json(deltas) if deltas else None)


async def write_alike(tx: Tx, kinds: Sequence[Event], numbers: Sequence[int], job_ids: Sequence[str]) -> None:
    """The same for many events of few kinds: what `kinds` tells of no job in particular, told of each of these.

    `numbers` says for each of the jobs which of the kinds it is.
    """
    texts = [around_job_id(event) for event in kinds]
    for part in in_parts(list(zip(numbers, job_ids, strict=True)), _A_BATCH):
        body = ",".join([f"{texts[number][0]}{job_id}{texts[number][1]}" for number, job_id in part])
        deltas = tally(kinds[number] for number, _ in part)
        await tx.fetch("insert_events", len(part), f"[{body}]", to_json(deltas))


def around_job_id(event: Event) -> tuple[str, str]:
    """The event as JSON, with room for the job's id. In a text of JSON quotes are escaped, so this is its only one."""
    before, _, after = to_json(msgspec.structs.replace(event, job_id="")).partition(_NO_JOB_ID)
    return f"{before}{_NO_JOB_ID[:-1]}", f'"{after}'


async def number_events(tx: Tx, limit: int = 1000) -> int:
    """Number what has committed since the last time; how many batches.

    Only one transaction at a time can: it holds the counter's row from here to its commit. What it does not see yet
    has not committed, so it gets a later number, and nobody waits for it.
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


async def events_after(tx: Tx, after: int, batches: int, queue: str | None = None) -> list[Event]:
    """Events with greater numbers, in order: all of the next `batches` batches.

    With `queue`, for whoever cares for that one alone: if it is an office's, batches that tell nothing of it are passed
    over without being read, but for those that are not folded yet. Others' events may still be among them.
    """
    if queue is None or office_of_queue(queue) is None:
        rows = await tx.fetch("events_after", after, batches)
    else:
        rows = await tx.fetch("events_of_office", queue, after, batches)
        if len(rows) < batches:
            folded: int = (await tx.fetch("folded_to"))[0]["folded_to"]
            rows = [*rows, *await tx.fetch("events_after", max(after, folded), batches - len(rows))]
    return [
        msgspec.structs.replace(event, id=row["first_id"] + offset)
        for row in rows
        for offset, event in enumerate(_bodies.decode(row["body"]))
        if row["first_id"] + offset > after
    ]


async def last_event_id(tx: Tx) -> int:
    last: int = (await tx.fetch("last_event_id"))[0]["last_id"]
    return last
