"""Verify the event index of queues: it must list all batches with events of a queue, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hanbeon.domain.audit.findings import Code, Finding
from hanbeon.domain.audit.history import AuditedBatch
from hanbeon.store.operations import audit as audit
from hanbeon.store.tx import Tx

_MISSED = "batches of its events are not in its index: readers of the queue miss them"
_MISLEADING = "entries of its index name no folded batch with its events"
# If a whole index is lost, the first rows show it as well as all.
_ROWS_SHOWN = 10


class QueueEventIndexes:
    """Collects the inconsistencies: `look_at` all batches, then `finish`."""

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, str], tuple[int, list[dict[str, Any]]]] = {}

    async def look_at(self, tx: Tx, batches: Sequence[AuditedBatch]) -> None:
        self._add(_MISSED, await audit.unindexed(tx, batches))

    async def finish(self, tx: Tx) -> list[Finding]:
        self._add(_MISLEADING, await audit.misleading(tx))
        return list(self._findings())

    def _add(self, what: str, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            number, shown = self._wrong.get((row["queue"], what), (0, []))
            if number < _ROWS_SHOWN:
                shown.append(row)
            self._wrong[row["queue"], what] = (number + 1, shown)

    def _findings(self) -> Iterator[Finding]:
        for (queue, what), (number, shown) in sorted(self._wrong.items()):
            yield Finding(code=Code.BROKEN_INDEX, message=f"{number} {what}", queue=queue, rows=tuple(shown))
