"""Batches on PostgreSQL: one statement each, which is a transaction by itself. Four round trips become one."""

from __future__ import annotations

from hanbeon.domain.event_groups import before_jobs
from hanbeon.domain.job import LaneName
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.fast.path import Claims, Ended, Successes
from hanbeon.store.job_columns import claimed
from hanbeon.store.operations.claim import ClaimRequest, LanePosition
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import to_json


class PostgresBatches:
    """See `BatchWriter`. Not behind a pooler, where a statement with parameters needs a transaction around it."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
        if self._database.pooled:
            return None
        event = before_jobs(Reason.CLAIMED, State.RUNNING, name.queue, name.task, ("instance", request.instance))
        rows = await self._database.fetch(
            "claim_batch",
            *(behind.lane, request.instance, request.lease_us, request.want, behind.rank, behind.seq),
            '{"groups":[' + event,
            self._database.incarnation,
        )
        if not rows:
            return None
        return Claims([claimed(row, name, request.instance) for row in rows], rows[-1]["rank"])

    async def succeed(self, lanes: LaneCache, successes: Successes) -> Ended | None:
        if self._database.pooled:
            return None
        seqs, results = successes.seqs, successes.results
        alike = successes.alike
        rows = await self._database.fetch(
            "succeed_batch",
            seqs,
            *(successes.fence, successes.instance, results[0] if alike else None),
            None if alike else to_json(dict(zip(seqs, results, strict=True))),
            successes.body,
            self._database.incarnation,
        )
        return Ended(rows[0]["now"]) if rows else None
