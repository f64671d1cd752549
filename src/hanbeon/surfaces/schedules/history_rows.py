"""The history of fires: lines and counters, written together."""

from __future__ import annotations

from collections import Counter

import msgspec

from hanbeon.store.operations.totals import add_totals
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.schedules.vocabulary import FIRES, FireOutcome, FireReason


class FireLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A line of the history."""

    schedule_id: str
    fire_at: int
    outcome: FireOutcome
    reason: FireReason | None = None
    execution_id: str | None = None
    more: int = 0


async def write_fires(tx: Tx, lines: list[FireLine]) -> None:
    """Write the lines. A second line for the same fire violates its key, and rolls the transaction back."""
    if not lines:
        return
    if tx.fast is None or not await tx.fast.copy_rows(tx, "fire", lines, now="recorded_at"):
        await tx.fetch("insert_fires", to_json(lines))
    counted: Counter[tuple[FireOutcome, FireReason | None]] = Counter()
    for line in lines:
        counted[line.outcome, line.reason] += 1 + line.more
    await add_totals(tx, {FIRES.of(*filter(None, labels)): count for labels, count in counted.items()})
