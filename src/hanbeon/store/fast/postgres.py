"""The fast paths on PostgreSQL, where each statement is a round trip: one statement that is a transaction by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from hanbeon.clock import Clock
from hanbeon.domain.actor import Actor, current_actor
from hanbeon.domain.event_groups import before_jobs
from hanbeon.domain.job import LaneName, NewJob
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.database.notify import PostgresNotifier
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.fast import bulk
from hanbeon.store.fast.bulk import WORTH_IT, copy_rows
from hanbeon.store.fast.path import Claims, Ended, FastPath, Successes
from hanbeon.store.fast.single import is_simple, single_event, single_values
from hanbeon.store.job_columns import claimed
from hanbeon.store.operations.claim import ClaimRequest, LanePosition
from hanbeon.store.operations.enqueue import Enqueued, Make, RowVersion
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, ready_hint, to_json

_NOBODY = (None,) * len(Actor.__struct_fields__)


class PostgresFastPath(FastPath):
    """See `FastPath`. No batches behind a pooler, where a statement with parameters needs a transaction around it."""

    def __init__(self, database: PostgresDatabase, notifier: PostgresNotifier, clock: Clock) -> None:
        super().__init__(clock)
        self._database, self._notifier = database, notifier

    async def enqueue_one(self, lanes: LaneCache, job: NewJob, precondition: RowVersion | None) -> Enqueued | None:
        if not is_simple(job) or lanes.missing([job.lane]):
            return None
        hints = (ready_hint([job.task]), "event")
        payload = self._notifier.piggyback(hints)
        actor = current_actor()
        values = (
            *single_event(job),
            payload,
            *(_NOBODY if actor is None else msgspec.structs.astuple(actor)),
            self._database.incarnation,
            0 if precondition is None else precondition.version,
            *single_values(job, lanes),
        )
        rows: Sequence[Any] = ()
        try:
            if precondition is None:
                rows = await self._database.fetch("enqueue_one", *values)
            else:
                values = (*values, precondition.id)
                rows = await self._database.fetch("enqueue_one", *values, precondition=precondition.statement)
        finally:
            if payload is not None and not rows:
                self._notifier.send(payload.split())  # It has hints of others, too.
        for row in rows:
            if payload is None:
                self._notifier.send(hints)
            return Enqueued(job.id, State.READY, True, row["seq"], row["created_at"])
        return None

    def in_bulk(self, jobs: Sequence[NewJob]) -> Make | None:
        return bulk.in_bulk(jobs)

    async def copy_jobs(self, tx: Tx, lanes: LaneCache, jobs: Sequence[NewJob]) -> list[Enqueued] | None:
        if tx.copy is None or len(jobs) < WORTH_IT:
            return None
        return await bulk.copy_jobs(tx, tx.copy, lanes, jobs)

    async def copy_rows(self, tx: Tx, table: str, rows: Sequence[msgspec.Struct], *, now: str | None = None) -> bool:
        if tx.copy is None or len(rows) < WORTH_IT:
            return False
        columns, values = rows[0].__struct_fields__, map(msgspec.structs.astuple, rows)
        if now is None:
            await copy_rows(tx.copy, table, columns, values)
        else:
            at = (await tx.fetch("now"))[0]["now"]
            await copy_rows(tx.copy, table, (*columns, now), ((*row, at) for row in values))
        return True

    async def _claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
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

    async def _succeed(self, lanes: LaneCache, successes: Successes) -> Ended | None:
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
