"""Comparing the indexes of offices' events with the events themselves, for an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hanbeon.domain.audit.history import AuditedBatch
from hanbeon.domain.offices import office_of_queue
from hanbeon.store.tx import Tx, to_json


async def unindexed(tx: Tx, batches: Sequence[AuditedBatch]) -> list[dict[str, Any]]:
    """Which of these should have been in an office's index, by what their events say, and are not."""
    telling = [
        {"queue": queue, "first_id": batch.first_id, "at": batch.at}
        for batch in batches
        if batch.first_id is not None and batch.events is not None
        for queue in {event.queue for event in batch.events}
        if office_of_queue(queue) is not None
    ]
    rows = await tx.fetch("audit_unindexed", to_json(telling)) if telling else []
    return [{"queue": row["queue"], "first_id": row["first_id"], "at": row["at"]} for row in rows]


async def misleading(tx: Tx) -> list[dict[str, Any]]:
    """Entries of the indexes that should not be there, by queue."""
    return [
        {"queue": row["queue"] or f"#{row['queue_id']}", "first_id": row["first_id"], "at": row["at"]}
        for row in await tx.fetch("audit_indexed")
    ]
