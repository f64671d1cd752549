"""Counters of all instances. Adding to one never waits, and takes effect with the transaction that is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from hanbeon.store.tx import Tx, to_json

_MANY = 1_000
_WAITING_SAMPLED = 1_000


class ScheduleNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """Counts and lags of schedules. Lags are in microseconds, 0 if nothing is late."""

    active: int
    paused: int
    lag: int
    start_lag: int


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


async def schedule_numbers(tx: Tx) -> ScheduleNumbers:
    counted = (await tx.fetch("schedule_counts"))[0]
    wait = (await tx.fetch("next_fire"))[0]["wait_us"]
    lag = (await tx.fetch("start_lag", _WAITING_SAMPLED))[0]["lag"]
    return ScheduleNumbers(
        active=counted["active"], paused=counted["paused"], lag=max(0, -(wait or 0)), start_lag=max(0, lag or 0)
    )
