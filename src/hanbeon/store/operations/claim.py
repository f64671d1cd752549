"""ready → running: the jobs that may start, their order, and their limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.events import event_factory
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.limits import Candidate, QueueLimits, Usage, admit
from hanbeon.store.job_columns import claimed
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.records import free_since, lanes_of_queue, queue_of
from hanbeon.store.tx import Tx, to_json

_LANES_A_FETCH = 256
_LANES_A_SCAN = 16 * _LANES_A_FETCH
_limits = msgspec.json.Decoder(QueueLimits)
_OPEN = QueueLimits()
_CLOSED = QueueLimits(max_concurrent=-1)


class LanePosition(NamedTuple):
    """A job's position in its lane. All ready jobs of the lane follow it, or are newer than the last claim."""

    lane: int
    rank: int
    seq: int

    @classmethod
    def before_all(cls, lane: int) -> LanePosition:
        return cls(lane, -(2**63), 0)


class ClaimRequest(NamedTuple):
    """A request of an instance for jobs. `cursor` is the lane after which to scan; queues before it had their turn.

    `behind` is the position where the last claim ended, if that was recent and no new jobs are known since: then the
    lanes need not be scanned again.
    """

    instance: int
    tasks: Sequence[str]
    want: int
    lease_us: int
    cursor: int = 0
    behind: LanePosition | None = None
    queues: Sequence[str] | None = None
    """Claim from these queues only; None: from all."""


class ClaimAnswer(NamedTuple):
    """The claimed jobs, and where the next scan begins (0: at the first queue; all lanes after `cursor` were scanned).

    `place`: the position of the last job, if its lane is the only one with ready jobs; `more`: it may have more.
    """

    jobs: list[Claimed]
    cursor: int
    place: LanePosition | None = None
    more: bool = False


Take = Callable[[Tx, LaneCache, list[int], ClaimRequest], Awaitable[list[Claimed]]]
"""Moves the jobs with these numbers, as far as they are still ready, in this order."""


async def claim(tx: Tx, lanes: LaneCache, request: ClaimRequest, take: Take | None = None) -> ClaimAnswer:
    """Claim at most `want` jobs of the next queues, in one scan. `take` moves the jobs otherwise than to `running`.

    Limits hold because a limited queue's row is locked before the jobs that take its slots are counted.
    """
    if request.behind is not None and tx.fast is not None:
        answer = await tx.fast.claim_lane(tx, lanes, request.behind, request, request.cursor, alone=True)
        if answer.jobs:
            return answer
    found, seen = await _scan(tx, request)
    candidates = {row["lane"]: row for row in found if row["open"]}
    lanes.limited |= {row["queue_id"] for row in found if row["limited"]}
    # A count without the lock only selects the queues that are worth locking; it decides nothing.
    limits = {row["queue_id"]: _limits.decode(row["limits"]) for row in candidates.values() if row["limited"]}
    candidates = _with_room(candidates, limits, await _count_running(tx, limits))
    queues = list(dict.fromkeys(queue_of(lane) for lane in candidates))
    turns = queues[: request.want]
    candidates = {lane: row for lane, row in candidates.items() if queue_of(lane) in turns}

    if tx.fast is not None and len(candidates) == 1 and turns[0] not in limits and take is None:
        head = LanePosition.before_all(next(iter(candidates)))
        # Of one that only had its turn before others, the position must not be remembered: they are next.
        alone = len(queues) == 1 and not seen and not request.cursor
        return await tx.fast.claim_lane(tx, lanes, head, request, _next_cursor(turns, request, seen), alone=alone)
    limits, streamed = await _lock_limited(tx, [queue for queue in turns if queue in limits])
    if limits:
        candidates = await _still_open(tx, candidates, limits)
    usage = await _count_running(tx, limits, "slots_taken" if streamed else "running_counts")
    picked = await _pick(tx, _with_room(candidates, limits, usage), limits, usage, turns, request.want)
    jobs = await (take or _take)(tx, lanes, picked, request) if picked else []
    return ClaimAnswer(jobs, _next_cursor(turns, request, seen))


async def may_claim(tx: Tx, tasks: Sequence[str]) -> bool:
    """Return True if jobs of these tasks may be ready: cheaper than claims for each of several sets of tasks.

    With very many ready lanes it does not look through them all: claims do so, in parts.
    """
    found = await tx.fetch("ready_lanes", 0, _LANES_A_FETCH, to_json(tasks), None)
    return len(found) == _LANES_A_FETCH or any(row["open"] for row in found)


async def claim_these(tx: Tx, lanes: LaneCache, seqs: list[int], request: ClaimRequest) -> list[Claimed]:
    """Claim those of these jobs that are ready, ignoring order, limits and pauses: for test kits."""
    return await _take(tx, lanes, seqs, request)


async def _scan(tx: Tx, request: ClaimRequest) -> tuple[list[Any], int]:
    """Return the ready lanes of the next queues, each queue complete, and the last lane scanned (0: there are no more).

    Complete, because the order of a queue spans its lanes. Only one with thousands of ready lanes is scanned in parts.
    """
    lanes: list[Any] = []
    after = request.cursor
    tasks = to_json(request.tasks)
    queues = None if request.queues is None else to_json(request.queues)
    while True:
        found = await tx.fetch("ready_lanes", after, _LANES_A_FETCH, tasks, queues)
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
        if len(lanes) >= _LANES_A_SCAN:
            return lanes, after


def _next_cursor(turns: Sequence[int], request: ClaimRequest, seen: int) -> int:
    """Return where the next scan begins: after the last lane scanned, or with the queues that had no turn."""
    if len(turns) < request.want:
        return seen
    turned = _end_of(turns[-1])
    return min(turned, seen) if seen else turned


def _end_of(queue: int) -> int:
    """Return a number after the queue's lanes and before the next queue's."""
    return lanes_of_queue(queue)[1] - 1


def _with_room(lanes: dict[int, Any], limits: dict[int, QueueLimits], usage: dict[int, Usage]) -> dict[int, Any]:
    """Return the lanes that have room for one more running job."""
    return {
        lane: row
        for lane, row in lanes.items()
        if (queue := queue_of(lane)) not in limits
        or usage[queue].room(limits[queue], row["role"], row["concurrency_key"])
    }


async def _lock_limited(tx: Tx, queue_ids: list[int]) -> tuple[dict[int, QueueLimits], bool]:
    """Return the limits of the locked rows; a queue that was paused in the meantime admits none.

    Besides, whether any of them has, or had, jobs that wait for a stream worker and take a slot meanwhile.
    """
    if not queue_ids:
        return {}, False
    rows = await tx.fetch("lock_queues", to_json(queue_ids))
    limits = {row["id"]: _CLOSED if row["paused"] else _limits.decode(row["limits"]) for row in rows}
    return limits, any(row["streamed"] for row in rows)


async def _still_open(tx: Tx, lanes: dict[int, Any], locked: Collection[int]) -> dict[int, Any]:
    """Drop the queues that were paused or limited while this claim waited for the locks of others."""
    unlocked = {queue_of(lane) for lane in lanes}.difference(locked)
    if not unlocked:
        return lanes
    still = {row["id"] for row in await tx.fetch("open_queues", to_json(sorted(unlocked)))}
    return {lane: row for lane, row in lanes.items() if queue_of(lane) in locked or queue_of(lane) in still}


async def _count_running(tx: Tx, limits: dict[int, QueueLimits], statement: str = "running_counts") -> dict[int, Usage]:
    if not limits:
        return {}
    usage = {queue_id: Usage() for queue_id in limits}
    ranges = [dict(zip(("low", "high"), lanes_of_queue(queue_id), strict=True)) for queue_id in limits]
    for row in await tx.fetch(statement, to_json(ranges)):
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


async def _take(tx: Tx, lanes: LaneCache, seqs: list[int], request: ClaimRequest) -> list[Claimed]:
    rows = await tx.fetch("claim", to_json(seqs), request.instance, request.lease_us)
    order = {seq: position for position, seq in enumerate(seqs)}
    return await jobs_of(tx, lanes, sorted(rows, key=lambda row: order[row["seq"]]), request)


async def jobs_of(tx: Tx, lanes: LaneCache, rows: Sequence[Any], request: ClaimRequest) -> list[Claimed]:
    """Convert the rows to jobs in the same order, and emit their events."""
    await lanes.learn(tx, [row["lane"] for row in rows])
    jobs = [claimed(tuple(row.values()), lanes.name(row["lane"]), request.instance) for row in rows]
    emit_claims(tx, jobs, [free_since(row) for row in rows])
    return jobs


def emit_claims(tx: Tx, jobs: Sequence[Claimed], since: Sequence[int]) -> None:
    """Emit the events of claims of one instance; `since`: since when each job had waited."""
    if not jobs:
        return
    build = event_factory(Reason.CLAIMED, State.RUNNING, instance=jobs[0].instance)
    for job, waited_since in zip(jobs, since, strict=True):
        at = job.started_at
        tx.emit(build(at, job.queue, job.id, job.task, job.fence, at - waited_since))
