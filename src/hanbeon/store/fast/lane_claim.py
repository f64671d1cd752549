"""Claims of the head of a single lane, after a position, without a scan of the others."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.job import Claimed, LaneName
from hanbeon.store.job_columns import AFTER_CLAIMED, SEQ, STARTED_AT, claimed
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition, emit_claims, jobs_of
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json

LONGEST_TEXT = 8_192
"""A job with longer arguments or progress takes the general path: all of a head must fit into one value."""


class HeadClaims(NamedTuple):
    """The claimed jobs in their order, at least one; since when each had waited; and the rank of the last."""

    jobs: list[Claimed]
    since: list[int]
    rank: int


# Behind the columns of a claimed job.
_RANK, _SINCE, _IS_LONG = range(AFTER_CLAIMED, AFTER_CLAIMED + 3)
_heads = msgspec.json.Decoder(list[list[Any]])


async def claim_head(
    tx: Tx, name: LaneName, after: tuple[int, int, int], want: int, instance: int, lease_us: int
) -> HeadClaims | None:
    """Claim jobs after a lane, rank and seq. None: nothing was written, and `claim_lane` must be used instead.

    Their events are left to the caller.
    """
    lane, rank, seq = after
    (found,) = await tx.fetch("head_of_lane", lane, want, rank, seq, LONGEST_TEXT)
    heads, now = _heads.decode(found["jobs"]), found["now"]
    if not heads or any(head[_IS_LONG] for head in heads):
        return None
    heads.sort(key=_order)
    # Nobody else writes meanwhile: the jobs are still as they were read.
    await tx.fetch("claim_head", to_json([head[SEQ] for head in heads]), instance, now, lease_us)
    for head in heads:
        head[STARTED_AT] = now
    jobs = [claimed(head, name, instance) for head in heads]
    return HeadClaims(jobs, [head[_SINCE] for head in heads], heads[-1][_RANK])


_order = itemgetter(_RANK, SEQ)


async def claim_lane(
    tx: Tx, lanes: LaneCache, behind: LanePosition, request: ClaimRequest, cursor: int, *, alone: bool
) -> ClaimAnswer:
    """Claim jobs of a lane after a position. `alone`: no other lane has ready jobs."""
    rows = await tx.fetch(
        "claim_lane", behind.lane, request.instance, request.lease_us, request.want, behind.rank, behind.seq
    )
    rows = sorted(rows, key=_lane_claim_order)
    jobs = await jobs_of(tx, lanes, rows, request)
    place = LanePosition(behind.lane, rows[-1]["rank"], jobs[-1].seq) if jobs and alone else None
    return ClaimAnswer(jobs, cursor, place, more=place is not None and len(jobs) == request.want)


async def claim_known_lane(
    tx: Tx, lanes: LaneCache, behind: LanePosition, request: ClaimRequest, cursor: int, *, alone: bool
) -> ClaimAnswer | None:
    """Like `claim_lane`, on SQLite. None: nothing was written."""
    await lanes.learn(tx, [behind.lane])
    if not lanes.knows(behind.lane):
        return None
    head = await claim_head(tx, lanes.name(behind.lane), behind, request.want, request.instance, request.lease_us)
    if head is None:
        return None
    jobs = head.jobs
    emit_claims(tx, jobs, head.since)
    place = LanePosition(behind.lane, head.rank, jobs[-1].seq) if alone else None
    return ClaimAnswer(jobs, cursor, place, more=place is not None and len(jobs) == request.want)


def _lane_claim_order(row: Any) -> tuple[int, int]:
    return row["rank"], row["seq"]
