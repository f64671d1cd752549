"""The fast paths on SQLite: few statements, whose results are single values and not a row for each job."""

from __future__ import annotations

from functools import partial

from hanbeon.clock import Clock
from hanbeon.domain.event_groups import batch_of, before_jobs, job_text
from hanbeon.domain.job import LaneName, NewJob
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.database.sqlite import SqliteDatabase
from hanbeon.store.fast.lane_claim import claim_head, claim_known_lane
from hanbeon.store.fast.path import Claims, Ended, FastPath, Successes
from hanbeon.store.fast.single import enqueue_within
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
from hanbeon.store.operations.dependencies import meet_dependents
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import TakesLonger, Tx, to_json


class _Refused(Exception):
    """Not all of the attempts are as expected: what was written is rolled back."""


class SqliteFastPath(FastPath):
    """See `FastPath`."""

    def __init__(self, database: SqliteDatabase, clock: Clock) -> None:
        super().__init__(clock)
        self._database = database

    async def _claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
        claims, _ = await self._database.transact(partial(_claim, name=name, behind=behind, request=request))
        return claims

    async def _succeed(self, lanes: LaneCache, successes: Successes) -> Ended | None:
        try:
            now, after = await self._database.transact(partial(_succeed, lanes=lanes, successes=successes))
        except (_Refused, TakesLonger):
            return None
        return Ended(now, after.hints)

    async def enqueue_within(self, tx: Tx, lanes: LaneCache, job: NewJob) -> Enqueued | None:
        return await enqueue_within(tx, lanes, job)

    async def claim_lane(
        self, tx: Tx, lanes: LaneCache, behind: LanePosition, request: ClaimRequest, cursor: int, *, alone: bool
    ) -> ClaimAnswer:
        answer = await claim_known_lane(tx, lanes, behind, request, cursor, alone=alone)
        return answer or await super().claim_lane(tx, lanes, behind, request, cursor, alone=alone)


async def _claim(tx: Tx, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
    head = await claim_head(tx, name, behind, request.want, request.instance, request.lease_us)
    if head is None:
        return None
    event = before_jobs(Reason.CLAIMED, State.RUNNING, name.queue, name.task, ("instance", request.instance))
    jobs = [job_text(job.id, job.fence, since) for job, since in zip(head.jobs, head.since, strict=True)]
    await _write_groups(tx, head.jobs[0].started_at, len(jobs), batch_of([(event, jobs)]))
    return Claims(head.jobs, head.rank)


async def _succeed(tx: Tx, lanes: LaneCache, successes: Successes) -> int:
    seqs = successes.seqs
    now: int = (await tx.fetch("now"))[0]["now"]
    lease = (successes.fence, successes.instance, now)
    if successes.alike:
        await tx.fetch("succeed_batch", to_json(seqs), *lease, successes.results[0])
    else:
        await tx.fetch("succeed_each", to_json(list(zip(seqs, successes.results, strict=True))), *lease)
    if (await tx.fetch("changed_rows"))[0]["count"] != len(seqs):
        raise _Refused
    await _write_groups(tx, now, len(seqs), successes.body)
    # A transaction that adds a dependent has committed, or begins after this.
    await meet_dependents(tx, lanes, seqs)
    return now


async def _write_groups(tx: Tx, at: int, count: int, body: str) -> None:
    """Append a batch of event groups that happened at this instant."""
    await tx.fetch("insert_event_groups", at, count, body)
    await tx.fetch("add_to_event_counter", count)
    tx.count_moves(count)
