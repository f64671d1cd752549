"""Jobs that are created in the caller's own transaction."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, ClassVar

from hanbeon.errors import TransactionTooLong
from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload.jobs import plain
from tests.simulation.workload.load import Book, Load


class _ChangeOfMind(Exception):
    """The caller rolls back."""


class Transactions(Load):
    operations: ClassVar[dict[str, int]] = {"own_transaction": 2}

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self._ids: list[str] = []
        self.oracles = (self.jobs_commit_with_their_transaction,)

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        request, client = plain.call(seconds=0.1, count=1), simulation.app
        self._ids.append(request.id)
        try:
            async with client.transaction() as transaction:
                await transaction.execute("INSERT INTO ledger VALUES ($1, 0)", f"tx-{request.id}")
                await self.book.enqueue(client, [request], [1], transaction)
                self.book.jobs[request.id].answer = "unknown"
                if rng.random() < 0.3:
                    raise _ChangeOfMind
        except _ChangeOfMind:
            self.book.jobs[request.id].answer = "rolled back"
        except TransactionTooLong:
            pass
        else:
            self.book.jobs[request.id].answer = "created"

    def jobs_commit_with_their_transaction(self, evidence: Evidence) -> Iterator[str]:
        if evidence.is_pruned:
            return
        written = {job for (job,) in evidence.rows("SELECT job FROM ledger WHERE fence = 0")}
        for job_id in self._ids:
            if (f"tx-{job_id}" in written) != (job_id in evidence.jobs):
                yield f"transaction of {job_id}: written {f'tx-{job_id}' in written}, job {job_id in evidence.jobs}"
