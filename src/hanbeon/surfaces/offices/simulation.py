"""How long an office's unfinished jobs will take: a simulation with measured runs, under limits to try."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import NamedTuple, Unpack

from hanbeon.cleanup import to_the_end
from hanbeon.domain.graph import dependents_of_any
from hanbeon.domain.job import NO_HANDLER, JobRecord
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.domain.limits import QueueLimits
from hanbeon.engine.worker import Worker
from hanbeon.errors import Busy, Conflict
from hanbeon.rule import Rule
from hanbeon.store.operations import queries
from hanbeon.store.operations.job_search import mean_runs_us
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices import keywords, schemas
from hanbeon.surfaces.offices import rows as offices
from hanbeon.surfaces.offices import simulator as simulation
from hanbeon.surfaces.offices.base import OfficeService
from hanbeon.surfaces.offices.config import BY_ROLE, in_force, merged
from hanbeon.surfaces.offices.rows import OfficeRecord
from hanbeon.surfaces.offices.schemas import SIMULATED_MOST
from hanbeon.surfaces.offices.serializers import iso_ms
from hanbeon.surfaces.offices.simulator import Cause, SimulatedJob, Step
from hanbeon.surfaces.service import SurfaceApp
from hanbeon.surfaces.stored_json import StoredJson, decoded
from hanbeon.surfaces.validation import given_fields, validate


class BoundedTurns:
    """One turn at a time. At most `waiting` callers wait for theirs; others are refused at once."""

    def __init__(self, work: str, waiting: int) -> None:
        self._work, self._most = work, waiting + 1
        self._inside = 0
        self._lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it for the duration of the block; raises Busy if too many wait."""
        if self._inside >= self._most:
            raise Busy(Rule("too_much_work", count=self._inside, work=self._work))
        self._inside += 1
        try:
            async with self._lock:
                yield
        finally:
            self._inside -= 1


_PAGE = 1_000
_WAITING_MOST = 8
_DEAD = (State.FAILED, State.CANCELLED)
_ALL_JOBS = "maxConcurrentJobs"


class _Unfinished(NamedTuple):
    """The unfinished jobs of an office at an instant, with their dependencies, and the mean runs of their lanes."""

    office: OfficeRecord
    now: int
    jobs: list[JobRecord]
    dependencies: Mapping[str, Sequence[queries.Dependency]]
    runs: Mapping[tuple[str, str], int | None]


class OfficeSimulation(OfficeService):
    """The simulation of an office."""

    def __init__(self, app: SurfaceApp, worker: Worker | None = None, *, stored_json: StoredJson = decoded) -> None:
        super().__init__(app, worker, stored_json=stored_json)
        self._simulations = BoundedTurns("simulations", _WAITING_MOST)

    async def simulate(self, office_id: str, **fields: Unpack[keywords.SimulationLimitsFields]) -> schemas.Simulation:
        """Estimate how long the unfinished jobs take under the office's limits, or others, and which slot to add.

        Nothing is changed. A job takes the mean of the latest runs of its task and role that succeeded; retries,
        pauses, busy workers and jobs that are added later are not foreseen. Raises Busy if too many are asked for.
        """
        request = validate(schemas.SimulationLimits, fields)
        async with self._simulations.turn():
            found = await self._read(lambda tx: _unfinished(tx, office_id))
            # Part of a second of computing for the largest graphs, without a transaction: others are served meanwhile.
            # A thread cannot be cancelled, so that the turn lasts until it has ended.
            return await to_the_end(asyncio.to_thread(self._simulation, found, request))

    def _simulation(self, found: _Unfinished, request: schemas.SimulationLimits) -> schemas.Simulation:
        tried = {name: value for name, value in given_fields(request).items() if name in (_ALL_JOBS, BY_ROLE)}
        config = merged(found.office.config, schemas.ConfigChange(**tried))
        limits = QueueLimits(**in_force(config).limits)
        never = _never_run(found)
        records = [job for job in found.jobs if job.id not in never]
        jobs = _simulated_jobs(records, found, request.assumed_ms * 1_000)
        result = simulation.simulate(jobs, limits)
        added = simulation.slot_to_add(jobs, limits, result)
        view = self._serializer(found.office.id, found.now)
        return schemas.Simulation(
            office_id=found.office.id,
            jobs=len(jobs),
            never=len(never),
            assumed=sum(found.runs[job.task, job.role] is None for job in records),
            makespan_ms=_ms(result.makespan_us),
            unlimited_ms=_ms(simulation.simulate(jobs, QueueLimits()).makespan_us),
            ends_at=iso_ms(found.now + result.makespan_us, self._zone) or "",
            critical_path=[_shown(view.node(records[each]), result.steps[each]) for each in result.critical_path()],
            add_slot=None
            if added is None
            else schemas.AddedSlot(
                limits={_limit(role): limit for role, limit in added.limits.items()},
                makespan_ms=_ms(added.makespan_us),
            ),
        )


async def _unfinished(tx: Tx, office_id: str) -> _Unfinished:
    office = await offices.office_by_id(tx, office_id)
    filter = queries.JobFilter(queue=office.queue, states=tuple(UNFINISHED))
    jobs: list[JobRecord] = []
    more = True
    while more:
        after = jobs[-1].seq if jobs else 0
        page = await queries.queue_page(tx, filter, after, _PAGE, queries.Contents.NODE)
        jobs += page.items
        more = page.more
        if len(jobs) > SIMULATED_MOST:
            raise Conflict(Rule("office_too_large", office=office_id, most=SIMULATED_MOST))
    runs = await mean_runs_us(tx, office.queue, dict.fromkeys((job.task, job.role) for job in jobs))
    return _Unfinished(office, await queries.now_us(tx), jobs, await queries.dependencies_of_all(tx, jobs), runs)


def _never_run(found: _Unfinished) -> set[str]:
    """The jobs that nothing runs, or that wait for one that failed or was cancelled; and all that wait for these."""
    depends_on = {job_id: [each.id for each in of] for job_id, of in found.dependencies.items()}
    stuck = {job.id for job in found.jobs if job.task == NO_HANDLER}
    stuck |= {job_id for job_id, of in found.dependencies.items() if any(each.state in _DEAD for each in of)}
    return dependents_of_any(stuck, depends_on)


def _simulated_jobs(records: Sequence[JobRecord], found: _Unfinished, assumed_us: int) -> list[SimulatedJob]:
    places = {job.id: place for place, job in enumerate(records)}
    jobs = []
    for job in records:
        run_us = found.runs[job.task, job.role]
        run_us = assumed_us if run_us is None else run_us
        running = job.state is State.RUNNING
        if running and job.started_at is not None:
            run_us = max(0, run_us - (found.now - job.started_at))
        jobs.append(
            SimulatedJob(
                order=(not job.urgent, job.priority, job.seq),
                run_us=run_us,
                role=job.role,
                due_us=max(0, job.run_at - found.now),
                depends_on=[places[each.id] for each in found.dependencies.get(job.id, ()) if each.id in places],
                running=running,
            )
        )
    return jobs


def _shown(node: schemas.Node, step: Step) -> schemas.SimulatedJob:
    return schemas.SimulatedJob(
        **{name: getattr(node, name) for name in schemas.Node.__struct_fields__},
        start_ms=_ms(step.start_us),
        end_ms=_ms(step.end_us),
        waited_for=step.cause,
        limit=_limit(step.role) if step.cause is Cause.SLOT else None,
    )


def _limit(role: str) -> str:
    """The setting that limits a role, or all jobs."""
    return f"{BY_ROLE}.{role}" if role else _ALL_JOBS


def _ms(us: int) -> int:
    return round(us / 1_000)
