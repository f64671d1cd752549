"""Events of moves, from the rows that a statement returned: each has `seq`, `id`, `lane` and `now`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hanbeon.domain.events import moved
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx


async def emit(
    tx: Tx,
    book: LaneCache,
    rows: Sequence[Any],
    reason: Reason,
    state: State,
    *,
    was: Mapping[int, State] | None = None,
    of_attempts: bool = False,
    **details: Any,
) -> None:
    """One event for each row, in the order of creation; with its fence where the move is an attempt's.

    `was` says by seq in which state each was before, where the lifecycle allows more than one.
    """
    await book.learn(tx, [row["lane"] for row in rows])
    for row in sorted(rows, key=lambda row: row["seq"]):
        name = book.name(row["lane"])
        tx.emit(
            moved(
                reason,
                at=row["now"],
                queue=name.queue,
                job_id=str(row["id"]),
                task=name.task,
                state=state,
                was=None if was is None else was[row["seq"]],
                attempt=row["fence"] if of_attempts else None,
                **details,
            )
        )
