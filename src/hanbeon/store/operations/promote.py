"""pending → ready, when the time has come."""

from __future__ import annotations

from hanbeon.store.operations.depend import promote_these
from hanbeon.store.operations.lanes import LaneBook
from hanbeon.store.tx import Tx


async def promote(tx: Tx, book: LaneBook, limit: int) -> int:
    """Promote the next due jobs; how many."""
    due = [row["seq"] for row in await tx.fetch("due", limit)]
    return await promote_these(tx, book, due) if due else 0


async def next_due_us(tx: Tx) -> int | None:
    """Microseconds until the next pending job is due (negative: it is), None if there is none."""
    wait: int | None = (await tx.fetch("next_due"))[0]["wait_us"]
    return wait
