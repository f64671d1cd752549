"""Batches on SQLite: transactions of few statements, whose results are single values and not a row for each job."""

from __future__ import annotations

from functools import partial

from hanbeon.domain.event_groups import batch_of, before_jobs, job_text
from hanbeon.domain.job import LaneName
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.database.sqlite import SqliteDatabase
from hanbeon.store.fast.lane_head import claim_head
from hanbeon.store.fast.path import Claims, Ended, Successes
from hanbeon.store.operations.claim import ClaimRequest, LanePosition
from hanbeon.store.operations.dependencies import meet_dependents
from hanbeon.store.operations.events import write_groups
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import TakesLonger, Tx, to_json


class _Refused(Exception):
    """Not all of the attempts are as expected: what was written is rolled back."""


class SqliteBatches:
    """See `BatchWriter`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
        claims, _ = await self._database.transact(partial(_claim, name=name, behind=behind, request=request))
        return claims

    async def succeed(self, lanes: LaneCache, successes: Successes) -> Ended | None:
        try:
            now, after = await self._database.transact(partial(_succeed, lanes=lanes, successes=successes))
        except (_Refused, TakesLonger):
            return None
        return Ended(now, after.hints)


async def _claim(tx: Tx, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
    head = await claim_head(tx, name, behind, request.want, request.instance, request.lease_us)
    if head is None:
        return None
    event = before_jobs(Reason.CLAIMED, State.RUNNING, name.queue, name.task, ("instance", request.instance))
    jobs = [job_text(job.id, job.fence, since) for job, since in zip(head.jobs, head.since, strict=True)]
    await write_groups(tx, head.jobs[0].started_at, len(jobs), batch_of([(event, jobs)]))
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
    await write_groups(tx, now, len(seqs), successes.body)
    # Whoever adds a dependent has committed, or begins after this.
    await meet_dependents(tx, lanes, seqs)
    return now
