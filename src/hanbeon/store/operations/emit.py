"""Events of moves, built from the rows of a statement: each has `seq`, `id`, `lane` and `now`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hanbeon.domain.events import moved
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx


async def emit(
    tx: Tx,
    lanes: LaneCache,
    rows: Sequence[Any],
    reason: Reason,
    state: State,
    *,
    was: Mapping[int, State] | None = None,
    of_attempts: bool = False,
    **details: Any,
) -> None:
    """Emit one event per row, in creation order; with its fence if the move is one of an attempt.

    `was` maps seq to the previous state, where the lifecycle allows more than one.
    """
    await lanes.learn(tx, [row["lane"] for row in rows])
    for row in sorted(rows, key=lambda row: row["seq"]):
        name = lanes.name(row["lane"])
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
