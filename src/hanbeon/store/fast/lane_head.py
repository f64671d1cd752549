"""SQLite only: claims the head of a lane by few statements, each with a single value as its result.

The driver gives the interpreter lock away for each row that it reads, and has to get it back from a busy event loop.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.job import Claimed, LaneName
from hanbeon.store.job_columns import AFTER_CLAIMED, SEQ, STARTED_AT, claimed
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
