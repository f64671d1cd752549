"""The moves that users made by hand: rows only of such jobs, written in the transaction of the move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.domain.hand_move import HandMove
from hanbeon.domain.lifecycle import Reason
from hanbeon.store.tx import Tx, to_json


async def note_hand_move(
    tx: Tx, seq: int, reason: Reason, user: str | None, comment: str | None, changes: Mapping[str, Any] | None = None
) -> None:
    """Write who made a move, and why."""
    await tx.fetch("insert_hand_move", seq, reason.value, user, comment, to_json(changes) if changes else None)


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
