"""Claims of the head of a single lane, after a position, without a scan of the others."""

from __future__ import annotations

from typing import Any

from hanbeon.store.fast.lane_head import claim_head
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition, emit_claims, jobs_of
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx


async def claim_lane(
    tx: Tx, lanes: LaneCache, behind: LanePosition, request: ClaimRequest, cursor: int, *, alone: bool
) -> ClaimAnswer:
    """Claim jobs of a lane after a position. `alone`: no other lane has ready jobs."""
    rows = await tx.fetch(
        "claim_lane", behind.lane, request.instance, request.lease_us, request.want, behind.rank, behind.seq
    )
    rows = sorted(rows, key=_order)
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


def _order(row: Any) -> tuple[int, int]:
    return row["rank"], row["seq"]
