"""Strips on PostgreSQL: one statement each, which is a transaction by itself. Four round trips become one."""

from __future__ import annotations

from typing import Any

from hanbeon.domain.event_strips import before_jobs
from hanbeon.domain.job import Claimed, LaneName
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.operations.claim import ClaimRequest, LanePosition
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.postgres import PostgresDatabase
from hanbeon.store.records import policy_of
from hanbeon.store.strips import Claims, Ended, Successes
from hanbeon.store.tx import to_json


class PostgresStrips:
    """See `StripWriter`. Not behind a pooler, where a statement with parameters needs a transaction around it."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
        if self._database.pooled:
            return None
        event = before_jobs(Reason.CLAIMED, State.RUNNING, name.queue, name.task, ("instance", request.instance))
        rows = await self._database.fetch(
            "claim_strip",
            *(behind.lane, request.instance, request.lease_us, request.want, behind.rank, behind.seq),
            '{"strips":[' + event,
            self._database.incarnation,
        )
        if not rows:
            return None
        return Claims([_claimed(row, name, request.instance) for row in rows], rows[-1]["rank"])

    async def succeed(self, lanes: LaneCache, successes: Successes) -> Ended | None:
        if self._database.pooled:
            return None
        seqs, results = successes.seqs, successes.results
        alike = successes.alike
        rows = await self._database.fetch(
            "succeed_strip",
            seqs,
            *(successes.fence, successes.instance, results[0] if alike else None),
            None if alike else to_json(dict(zip(seqs, results, strict=True))),
            successes.body,
            self._database.incarnation,
        )
        return Ended(rows[0]["now"]) if rows else None


def _claimed(row: Any, name: LaneName, instance: int) -> Claimed:
    """Convert a row to a job by the order of `@claimed_columns`: by their names it takes twice as long."""
    seq, id, fence, lane, _, args, retry_count, timeout_us, policy, key, run_at, _, _, started_at, progress = row
    return Claimed(
        seq=seq,
        id=id,
        fence=fence,
        queue=name.queue,
        task=name.task,
        role=name.role,
        args=args,
        retry_count=retry_count,
        timeout_us=timeout_us,
        policy=policy_of(policy),
        idempotency_key=key,
        run_at=run_at,
        started_at=started_at,
        progress=progress,
        instance=instance,
        lane=lane,
    )
