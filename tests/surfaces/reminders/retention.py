"""Retention of reminders: their texts, which a real surface would keep in a table of its own."""

from __future__ import annotations

from hanbeon.store.operations.retention import AgedRows, Retention
from hanbeon.store.tx import Tx

TEXTS: list[str] = []


async def _delete(tx: Tx, older_than_us: int, limit: int) -> int:
    gone = TEXTS[:limit]
    del TEXTS[:limit]
    return len(gone)


async def _count(tx: Tx, older_than_us: int) -> int:
    return len(TEXTS)


RETENTION = Retention(aged=(AgedRows("reminder_texts", _delete, _count),))
