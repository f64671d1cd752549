"""Counters of all instances. Adding to one never waits, and takes effect with the transaction that is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hanbeon.store.tx import Tx, to_json

_MANY = 1_000


async def add_totals(tx: Tx, counts: Mapping[str, int]) -> None:
    rows = [{"name": name, "value": value} for name, value in sorted(counts.items()) if value]
    if rows:
        await tx.fetch("add_totals", to_json(rows))


async def totals(tx: Tx) -> dict[str, int]:
    return {row["name"]: row["value"] for row in await tx.fetch("totals")}


async def gather_totals(tx: Tx) -> None:
    """Merge the rows of each counter into one, if there are many."""
    gathered: Counter[str] = Counter()
    for row in await tx.fetch("take_totals", _MANY):
        gathered[row["name"]] += row["value"]
    await add_totals(tx, gathered)
