"""Results of chains, made from the engine's records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.clock import MICROS, iso
from hanbeon.surfaces.chains import schemas
from hanbeon.surfaces.chains.rows import ChainJobRecord, StepRecord, WholeChain, WholeRun
from hanbeon.surfaces.chains.vocabulary import HEAD, QUEUE_NOT_RUNNING, TAIL, UNINIT


class Serializer:
    """Makes results with instants in the zone of the installation."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone

    def chain(self, whole: WholeChain) -> schemas.Chain:
        chain, jobs = whole.chain, whole.jobs
        has_run = chain.run > 0
        return schemas.Chain(
            queue_id=chain.id,
            job_number=chain.job_number,
            operation_direction=chain.operation_direction,
            queue_library=chain.queue_library,
            state=chain.state,
            queue_return=[_returned(step) for step in whole.steps] if has_run else UNINIT,
            job_queue=jobs[0].id if jobs else UNINIT,
            running_job=QUEUE_NOT_RUNNING if chain.place is None else jobs[chain.place].id,
            last_job=jobs[-1].id if jobs else UNINIT,
            context=msgspec.json.decode(chain.context),
            run=chain.run,
            jobs=self.jobs(jobs),
            retries=chain.retries,
            on_unknown=chain.on_unknown,
            on_backward_failure=chain.on_backward_failure,
            created_by=chain.created_by,
            created_at=self._at(chain.created_at),
        )

    def jobs(self, jobs: Sequence[ChainJobRecord]) -> list[schemas.ChainJob]:
        """All jobs of a chain, each linked to its neighbours."""
        ids = [HEAD, *(job.id for job in jobs), TAIL]
        return [_job(job, ids[place], ids[place + 2]) for place, job in enumerate(jobs)]

    def run(self, whole: WholeRun) -> schemas.Run:
        run = whole.run
        return schemas.Run(
            run=run.n,
            queue_id=run.chain_id,
            operation_direction=run.operation_direction,
            queue_return=[self._step(step) for step in whole.steps],
            started_by=run.started_by,
            started_at=self._at(run.started_at),
            ended_at=iso(run.ended_at, self._zone, "milliseconds"),
            duration=None if run.ended_at is None else max(0, run.ended_at - run.started_at) / MICROS,
        )

    def _step(self, step: StepRecord) -> schemas.RunStep:
        return schemas.RunStep(
            job_id=step.job_id,
            direction=step.direction,
            state=step.state,
            returned=msgspec.json.decode(step.returned),
            execution_id=step.step_job,
            started_at=iso(step.started_at, self._zone, "milliseconds"),
            ended_at=self._at(step.ended_at),
        )

    def _at(self, us: int) -> str:
        return iso(us, self._zone, "milliseconds") or ""


def _job(job: ChainJobRecord, prev_job: Any, next_job: Any) -> schemas.ChainJob:
    seconds = job.expired_us / MICROS
    return schemas.ChainJob(
        job_id=job.id,
        forward_operation=job.forward_operation,
        backward_operation=job.backward_operation,
        arguments=msgspec.json.decode(job.arguments),
        operation_library=job.operation_library,
        expired_time=int(seconds) if seconds.is_integer() else seconds,
        job_return=UNINIT if job.job_return is None else msgspec.json.decode(job.job_return),
        next_job=next_job,
        prev_job=prev_job,
        state=job.state,
    )


def _returned(step: StepRecord) -> schemas.Returned:
    return schemas.Returned(
        job_id=step.job_id,
        direction=step.direction,
        state=step.state,
        returned=msgspec.json.decode(step.returned),
    )
