"""Events of moves, from the rows that a statement returned: each has `seq`, `id`, `lane` and `now`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hanbeon.domain.events import moved
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.operations.lanes import LaneBook
from hanbeon.store.tx import Tx


async def tell(
    tx: Tx,
    book: LaneBook,
    rows: Sequence[Any],
    reason: Reason,
    state: State,
    *,
    of_attempts: bool = False,
    **details: Any,
) -> None:
    """One event for each row, in the order of creation; with its fence where the move is an attempt's."""
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
                attempt=row["fence"] if of_attempts else None,
                **details,
            )
        )
