"""ready → running: who may start, in which order, under which limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.events import moved
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.limits import Candidate, QueueLimits, Usage, admit
from hanbeon.store.operations.lanes import LaneBook
from hanbeon.store.records import claimed, lanes_of_queue, queue_of
from hanbeon.store.tx import Tx, to_json

_LANES_A_LOOK = 256
_limits = msgspec.json.Decoder(QueueLimits)
_OPEN = QueueLimits()
_CLOSED = QueueLimits(max_concurrent=-1)


class ClaimRequest(NamedTuple):
    """What an instance can take now. `cursor` is the lane behind which to look; queues before it had their turn."""

    instance: int
    tasks: Sequence[str]
    want: int
    lease_us: int
    cursor: int = 0


class ClaimAnswer(NamedTuple):
    """What was taken, and where the next look begins (0: again at the first queue)."""

    jobs: list[Claimed]
    cursor: int


async def claim(tx: Tx, book: LaneBook, request: ClaimRequest) -> ClaimAnswer:
    """Take at most `want` jobs. Limits hold because a limited queue's row is locked before its runners are counted."""
    found = await tx.fetch("ready_lanes", request.cursor, _LANES_A_LOOK, to_json(request.tasks))
    lanes = {row["lane"]: row for row in found if row["open"]}
    book.limited |= {row["queue_id"] for row in found if row["limited"]}
    # A count without the lock only tells which queues are worth locking; it decides nothing.
    limits = {row["queue_id"]: _limits.decode(row["limits"]) for row in lanes.values() if row["limited"]}
    lanes = _with_room(lanes, limits, await _count_running(tx, limits))
    turns = list(dict.fromkeys(queue_of(lane) for lane in lanes))[: request.want]
    lanes = {lane: row for lane, row in lanes.items() if queue_of(lane) in turns}

    limits = await _lock_limited(tx, [queue for queue in turns if queue in limits])
    usage = await _count_running(tx, limits)
    picked = await _pick(tx, _with_room(lanes, limits, usage), limits, usage, turns, request.want)
    jobs = await _take(tx, book, picked, request) if picked else []
    if len(turns) == request.want:
        return ClaimAnswer(jobs, lanes_of_queue(turns[-1])[1] - 1)
    return ClaimAnswer(jobs, found[-1]["lane"] if len(found) == _LANES_A_LOOK else 0)


def _with_room(lanes: dict[int, Any], limits: dict[int, QueueLimits], usage: dict[int, Usage]) -> dict[int, Any]:
    """The lanes that could take one more."""
    return {
        lane: row
        for lane, row in lanes.items()
        if (queue := queue_of(lane)) not in limits
        or usage[queue].room(limits[queue], row["role"], row["concurrency_key"])
    }


async def _lock_limited(tx: Tx, queue_ids: list[int]) -> dict[int, QueueLimits]:
    """The limits as the locked rows show them; a queue paused meanwhile gets none to give."""
    if not queue_ids:
        return {}
    rows = await tx.fetch("lock_queues", to_json(queue_ids))
    return {row["id"]: _CLOSED if row["paused"] else _limits.decode(row["limits"]) for row in rows}


async def _count_running(tx: Tx, limits: dict[int, QueueLimits]) -> dict[int, Usage]:
    if not limits:
        return {}
    usage = {queue_id: Usage() for queue_id in limits}
    ranges = [dict(zip(("low", "high"), lanes_of_queue(queue_id), strict=True)) for queue_id in limits]
    for row in await tx.fetch("running_counts", to_json(ranges)):
        usage[queue_of(row["lane"])].add(row["role"], row["concurrency_key"], row["running"])
    return usage


async def _pick(
    tx: Tx,
    lanes: dict[int, Any],
    limits: dict[int, QueueLimits],
    usage: dict[int, Usage],
    turns: list[int],
    want: int,
) -> list[int]:
    if not lanes:
        return []
    share = -(-want // max(1, len({row["queue_id"] for row in lanes.values()})))
    heads = await tx.fetch("lane_heads", to_json(list(lanes)), share)
    candidates = [
        Candidate(
            seq=head["seq"],
            queue_id=queue_of(head["lane"]),
            role=lanes[head["lane"]]["role"],
            key=lanes[head["lane"]]["concurrency_key"],
            urgent=bool(head["urgent"]),
            priority=head["priority"],
        )
        for head in heads
    ]
    return admit(candidates, {queue: limits.get(queue, _OPEN) for queue in turns}, usage, turns, want)


async def _take(tx: Tx, book: LaneBook, seqs: list[int], request: ClaimRequest) -> list[Claimed]:
    rows = await tx.fetch("claim", to_json(seqs), request.instance, request.lease_us)
    await book.learn(tx, [row["lane"] for row in rows])
    order = {seq: position for position, seq in enumerate(seqs)}
    jobs = [claimed(row, book.name(row["lane"])) for row in sorted(rows, key=lambda row: order[row["seq"]])]
    for job in jobs:
        tx.emit(
            moved(
                Reason.CLAIMED,
                at=job.started_at,
                queue=job.queue,
                job_id=job.id,
                task=job.task,
                state=State.RUNNING,
                attempt=job.fence,
                instance=request.instance,
            )
        )
    return jobs
