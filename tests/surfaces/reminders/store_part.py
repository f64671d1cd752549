"""The table and statements of reminders, and what retention deletes: texts that a real surface has in a table."""

from __future__ import annotations

from pathlib import Path

from hanbeon.store.operations.retention import AgedRows, Retention
from hanbeon.store.statements import StorePart
from hanbeon.store.tx import Tx

PART = StorePart(Path(__file__).parent, {"reminder_check": "CHECK (length(text) < 10000)"})

TEXTS: list[str] = []


async def _delete(tx: Tx, older_than_us: int, limit: int) -> int:
    gone = TEXTS[:limit]
    del TEXTS[:limit]
    return len(gone)


async def _count(tx: Tx, older_than_us: int) -> int:
    return len(TEXTS)


RETENTION = Retention(aged=(AgedRows("reminder_texts", _delete, _count),))
