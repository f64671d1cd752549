"""SQLite only: claims the head of a lane by few statements, each with a single value as its result.

The driver gives the interpreter lock away for each row that it reads, and has to get it back from a busy event loop.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from hanbeon.domain.job import Claimed, LaneName
from hanbeon.store.records import policy_of
from hanbeon.store.tx import Tx, to_json

LONGEST_TEXT = 8_192
"""A job with longer arguments or progress takes the general path: all of a head must fit into one value."""


class _Head(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A job to be claimed."""

    seq: int
    id: str
    fence: int
    rank: int
    args: str | None
    progress: str | None
    retry_count: int
    timeout_us: int | None
    policy: str
    idempotency_key: str | None
    run_at: int
    since: int
    is_long: int


class HeadClaims(NamedTuple):
    """The claimed jobs in their order, at least one; since when each had waited; and the rank of the last."""

    jobs: list[Claimed]
    since: list[int]
    rank: int


_heads = msgspec.json.Decoder(list[_Head])


async def claim_head(
    tx: Tx, name: LaneName, after: tuple[int, int, int], want: int, instance: int, lease_us: int
) -> HeadClaims | None:
    """Claim jobs after a lane, rank and seq. None: nothing was written, and `claim_lane` must be used instead.

    Their events are left to the caller.
    """
    lane, rank, seq = after
    (found,) = await tx.fetch("strip_head", lane, want, rank, seq, LONGEST_TEXT)
    heads, now = _heads.decode(found["jobs"]), found["now"]
    if not heads or any(head.is_long for head in heads):
        return None
    heads.sort(key=_order)
    # Nobody else writes meanwhile: the jobs are still as they were read.
    await tx.fetch("take_strip", to_json([head.seq for head in heads]), instance, now, lease_us)
    jobs = [_claimed(head, name, lane, now, instance) for head in heads]
    return HeadClaims(jobs, [head.since for head in heads], heads[-1].rank)


def _order(head: _Head) -> tuple[int, int]:
    return head.rank, head.seq


def _claimed(head: _Head, lane: LaneName, number: int, now: int, instance: int) -> Claimed:
    assert head.args is not None
    return Claimed(
        seq=head.seq,
        id=head.id,
        fence=head.fence,
        queue=lane.queue,
        task=lane.task,
        role=lane.role,
        args=head.args,
        retry_count=head.retry_count,
        timeout_us=head.timeout_us,
        policy=policy_of(head.policy),
        idempotency_key=head.idempotency_key,
        run_at=head.run_at,
        started_at=now,
        progress=head.progress,
        instance=instance,
        lane=number,
    )
