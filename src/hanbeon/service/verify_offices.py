"""Do the indexes of offices' events lead to all that is told of each, and to nothing else? A part of `verify`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hanbeon.domain.audit.findings import Code, Finding
from hanbeon.domain.audit.history import AuditedBatch
from hanbeon.store.operations import audit_offices as audit
from hanbeon.store.tx import Tx

_MISSED = "batches of its events are not in its index: who reads its events is not told of them"
_MISLEADING = "entries of its index name no batch of its own that was folded"
# Of an index that is lost as a whole, the first show it as well as all.
_ROWS_SHOWN = 10


class OfficeIndexes:
    """What is wrong with them: `look_at` all batches, then `finish`."""

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
