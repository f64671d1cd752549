"""The moves that users made by hand: rows only of such jobs, written in the transaction of the move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.hand_move import HandMove
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason
from hanbeon.store.tx import Tx, to_json


async def note_hand_moves(
    tx: Tx,
    seqs: Sequence[int],
    reason: Reason,
    user: str | None,
    comment: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> None:
    """Write who made the same move of these jobs, and why."""
    changed = to_json(changes) if changes else None
    await tx.fetch("insert_hand_moves", to_json(seqs), reason.value, user, comment, changed)


async def with_comments(tx: Tx, jobs: Sequence[Claimed]) -> list[Claimed]:
    """Return claimed jobs with what was said when they were retried by hand."""
    rows = await tx.fetch("comments_of_retries", to_json([job.seq for job in jobs if job.fence > 1]))
    found = {row["job"]: row["comment"] for row in rows}
    return [msgspec.structs.replace(job, comment=found[job.seq]) if found.get(job.seq) else job for job in jobs]


async def hand_moves_of(tx: Tx, seq: int) -> list[HandMove]:
    """Return the moves of a job by hand, in order."""
    return [
        HandMove(
            at=row["at"],
            reason=Reason(row["reason"]),
            user=row["user_name"],
            comment=row["comment"],
            changes={} if row["changes"] is None else msgspec.json.decode(row["changes"]),
        )
        for row in await tx.fetch("hand_moves_of", seq)
    ]
