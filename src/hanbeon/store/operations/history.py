"""The history of fires: a line for each, and a number for all, written together."""

from __future__ import annotations

from collections import Counter
from typing import Any, NotRequired, TypedDict

from hanbeon.domain.schedules.history import FireOutcome, FireReason
from hanbeon.domain.totals import Total
from hanbeon.store.operations.totals import add_totals
from hanbeon.store.tx import Tx, to_json


class FireLine(TypedDict):
    """What is written down of a fire."""

    schedule_id: str
    fire_at: int
    outcome: FireOutcome
    reason: FireReason | None
    execution_id: NotRequired[str]
    more: NotRequired[int]


async def write_fires(tx: Tx, lines: list[FireLine]) -> None:
    """A second line for the same fire is refused by its key, and undoes the transaction."""
    if not lines:
        return
    await tx.fetch("insert_fires", to_json(lines))
    counted: Counter[str] = Counter()
    for line in lines:
        labels: tuple[Any, ...] = (line["outcome"],) if line["reason"] is None else (line["outcome"], line["reason"])
        counted[Total.FIRES.of(*labels)] += 1 + line.get("more", 0)
    await add_totals(tx, counted)
