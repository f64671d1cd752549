"""ready → running: who may start, in which order, under which limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.events import teller
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.limits import Candidate, QueueLimits, Usage, admit
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.records import claimed, free_since, lanes_of_queue, queue_of
from hanbeon.store.tx import Tx, to_json

_LANES_A_FETCH = 256
_LANES_A_LOOK = 16 * _LANES_A_FETCH
_limits = msgspec.json.Decoder(QueueLimits)
_OPEN = QueueLimits()
_CLOSED = QueueLimits(max_concurrent=-1)


class LanePosition(NamedTuple):
    """A job's place in its lane. All that is ready there stands behind it, or came since."""

    lane: int
    rank: int
    seq: int

    @classmethod
    def before_all(cls, lane: int) -> LanePosition:
        return cls(lane, -(2**63), 0)


class ClaimRequest(NamedTuple):
    """What an instance can take now. `cursor` is the lane behind which to look; queues before it had their turn.

    `behind` is where the last claim left off, if that was a short while ago and nothing is known to have come since:
    then there is no need to look at all lanes again.
    """

    instance: int
    tasks: Sequence[str]
    want: int
    lease_us: int
    cursor: int = 0
    behind: LanePosition | None = None


class ClaimAnswer(NamedTuple):
    """What was taken, and where the next look begins (0: at the first queue; every lane behind `cursor` was seen).

    `place`: of the last job taken, if its lane is the only one with anything to take; `more`: and it may have more.
    """

    jobs: list[Claimed]
    cursor: int
    place: LanePosition | None = None
    more: bool = False


async def claim(tx: Tx, book: LaneCache, request: ClaimRequest) -> ClaimAnswer:
    """One look: take at most `want` jobs of the next queues.

    Limits hold because a limited queue's row is locked before its runners are counted.
    """
    if request.behind is not None:
        rows = await _claim_lane(tx, request.behind, request)
        if rows:
            return await _answer(tx, book, rows, request, request.cursor)
    found, seen = await _look(tx, request)
    lanes = {row["lane"]: row for row in found if row["open"]}
    book.limited |= {row["queue_id"] for row in found if row["limited"]}
    # A count without the lock only tells which queues are worth locking; it decides nothing.
    limits = {row["queue_id"]: _limits.decode(row["limits"]) for row in lanes.values() if row["limited"]}
    lanes = _with_room(lanes, limits, await _count_running(tx, limits))
    turns = list(dict.fromkeys(queue_of(lane) for lane in lanes))[: request.want]
    lanes = {lane: row for lane, row in lanes.items() if queue_of(lane) in turns}

    if len(lanes) == 1 and turns[0] not in limits:
        rows = await _claim_lane(tx, LanePosition.before_all(next(iter(lanes))), request)
        return await _answer(
            tx, book, rows, request, _behind(turns, request, seen), alone=not seen and not request.cursor
        )
    limits = await _lock_limited(tx, [queue for queue in turns if queue in limits])
    if limits:
        lanes = await _still_open(tx, lanes, limits)
    usage = await _count_running(tx, limits)
    picked = await _pick(tx, _with_room(lanes, limits, usage), limits, usage, turns, request.want)
    jobs = await _take(tx, book, picked, request) if picked else []
    return ClaimAnswer(jobs, _behind(turns, request, seen))


async def claim_these(tx: Tx, book: LaneCache, seqs: list[int], request: ClaimRequest) -> list[Claimed]:
    """Those of these jobs that are ready, whatever their queues' order, limits and pauses say: for test kits."""
    return await _take(tx, book, seqs, request)


async def _claim_lane(tx: Tx, behind: LanePosition, request: ClaimRequest) -> list[Any]:
    rows = await tx.fetch(
        "claim_lane", behind.lane, request.instance, request.lease_us, request.want, behind.rank, behind.seq
    )
    return sorted(rows, key=_order)


async def _answer(
    tx: Tx, book: LaneCache, rows: Sequence[Any], request: ClaimRequest, cursor: int, *, alone: bool = True
) -> ClaimAnswer:
    jobs = await _claimed(tx, book, rows, request)
    place = LanePosition(rows[-1]["lane"], *_order(rows[-1])) if rows and alone else None
    return ClaimAnswer(jobs, cursor, place, more=place is not None and len(rows) == request.want)


async def _look(tx: Tx, request: ClaimRequest) -> tuple[list[Any], int]:
    """The ready lanes of the next queues, each queue whole, and the last lane seen (0: there are no more).

    Whole, because the order of a queue goes across its lanes. Only one with thousands of ready lanes is seen in parts.
    """
    lanes: list[Any] = []
    after = request.cursor
    tasks = to_json(request.tasks)
    while True:
        found = await tx.fetch("ready_lanes", after, _LANES_A_FETCH, tasks)
        lanes += found
        if len(found) < _LANES_A_FETCH:
            return lanes, 0
        after = found[-1]["lane"]
        last = queue_of(after)
        if found[-1]["paused"]:
            return lanes, _end_of(last)
        whole = [row for row in lanes if row["queue_id"] != last]
        if whole:
            return whole, _end_of(last - 1)
        if len(lanes) >= _LANES_A_LOOK:
            return lanes, after


def _behind(turns: Sequence[int], request: ClaimRequest, seen: int) -> int:
    """Where the next look begins: behind what was seen, or with those that had no turn."""
    if len(turns) < request.want:
        return seen
    turned = _end_of(turns[-1])
    return min(turned, seen) if seen else turned


def _end_of(queue: int) -> int:
    """A number behind the queue's lanes and before the next queue's."""
    return lanes_of_queue(queue)[1] - 1


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


async def _still_open(tx: Tx, lanes: dict[int, Any], locked: Collection[int]) -> dict[int, Any]:
    """Without the queues that were paused or limited while this claim waited for the locks of others."""
    unlocked = {queue_of(lane) for lane in lanes}.difference(locked)
    if not unlocked:
        return lanes
    still = {row["id"] for row in await tx.fetch("open_queues", to_json(sorted(unlocked)))}
    return {lane: row for lane, row in lanes.items() if queue_of(lane) in locked or queue_of(lane) in still}


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
    seen: Counter[int] = Counter()
    candidates = []
    for head in heads:
        lane = head["lane"]
        seen[lane] += 1
        candidates.append(
            Candidate(
                seq=head["seq"],
                queue_id=queue_of(lane),
                role=lanes[lane]["role"],
                key=lanes[lane]["concurrency_key"],
                rank=head["rank"],
                more=seen[lane] == share,
            )
        )
    return admit(candidates, {queue: limits.get(queue, _OPEN) for queue in turns}, usage, turns, want)


async def _take(tx: Tx, book: LaneCache, seqs: list[int], request: ClaimRequest) -> list[Claimed]:
    rows = await tx.fetch("claim", to_json(seqs), request.instance, request.lease_us)
    order = {seq: position for position, seq in enumerate(seqs)}
    return await _claimed(tx, book, sorted(rows, key=lambda row: order[row["seq"]]), request)


async def _claimed(tx: Tx, book: LaneCache, rows: Sequence[Any], request: ClaimRequest) -> list[Claimed]:
    """The rows as jobs, in the same order, and told."""
    await book.learn(tx, [row["lane"] for row in rows])
    jobs = []
    tell = teller(Reason.CLAIMED, State.RUNNING, instance=request.instance)
    for row in rows:
        job = claimed(row, book.name(row["lane"]), request.instance)
        jobs.append(job)
        at = job.started_at
        tx.emit(tell(at, job.queue, job.id, job.task, job.fence, at - free_since(row)))
    return jobs


def _order(row: Any) -> tuple[int, int]:
    return row["rank"], row["seq"]
