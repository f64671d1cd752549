"""Compares the event index of each queue with the events themselves, for an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hanbeon.domain.audit.history import AuditedBatch
from hanbeon.domain.reserved_queues import is_indexed
from hanbeon.store.tx import Tx, to_json


async def unindexed(tx: Tx, batches: Sequence[AuditedBatch]) -> list[dict[str, Any]]:
    """Return those of these batches that are missing from the index of a queue whose events they contain."""
    expected = [
        {"queue": queue, "first_id": batch.first_id, "at": batch.at}
        for batch in batches
        if batch.first_id is not None and batch.events is not None
        for queue in {event.queue for event in batch.events}
        if is_indexed(queue)
    ]
    rows = await tx.fetch("audit_unindexed", to_json(expected)) if expected else []
    return [{"queue": row["queue"], "first_id": row["first_id"], "at": row["at"]} for row in rows]


async def misleading(tx: Tx) -> list[dict[str, Any]]:
    """Return the index entries that should not exist, by queue."""
    return [
        {"queue": row["queue"] or f"#{row['queue_id']}", "first_id": row["first_id"], "at": row["at"]}
        for row in await tx.fetch("audit_indexed")
    ]
