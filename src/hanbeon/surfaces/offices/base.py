"""Helpers that the use cases of offices share: the office's record, its tasks, and views of its jobs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TypeVar

from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.errors import JobNotFound
from hanbeon.store.operations import queries
from hanbeon.store.operations.instances import instances
from hanbeon.store.operations.tallies import stock
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices import rows as offices
from hanbeon.surfaces.offices import schemas, serializers
from hanbeon.surfaces.offices.job_plan import meta_of
from hanbeon.surfaces.offices.listener_rows import listeners_of
from hanbeon.surfaces.offices.queue import queue_of_office
from hanbeon.surfaces.offices.resolve import Handlers, handling, session_of
from hanbeon.surfaces.offices.rows import Handling, OfficeRecord
from hanbeon.surfaces.service import Service

T = TypeVar("T")
_SHOWN = 40


class OfficeService(Service):
    """Base of the parts of `Offices`."""

    async def _shown(self, tx: Tx, found: Sequence[OfficeRecord]) -> list[schemas.Office]:
        """The views of offices, with their webhooks and notifications."""
        listeners = await listeners_of(tx, {office.id for office in found})
        return [serializers.office_view(office, listeners.get(office.id, ()), self._zone) for office in found]

    def _serializer(self, office_id: str, now: int) -> serializers.Serializer:
        return serializers.Serializer(office_id, now, self._zone, self._stored_json)

    async def _record(self, office_id: str) -> OfficeRecord:
        return await self._store.database.look(lambda tx: offices.office_by_id(tx, office_id))

    async def _handlers(self, named: Collection[str]) -> Handlers:
        """The known tasks. Those of other instances are read only if this App lacks one of the names."""
        here = self._app.tasks
        if set(named) <= set(here.names()):
            return Handlers(here, ())
        found = await self._read(lambda tx: instances(tx, self._alive_within_us))
        return Handlers(here, {task for each in found if each.alive for task in each.tasks})

    async def _checked(self, office_id: str, job_id: str) -> JobRecord:
        """The job, if it belongs to this office. Jobs never change their office, so that this stays true."""
        return await self._read(lambda tx: job_of(tx, office_id, job_id))

    async def _views(self, office_id: str, ids: Sequence[str]) -> list[schemas.Job]:
        """The views of these jobs, in this order."""

        async def read(tx: Tx) -> list[schemas.Job]:
            shown = await self._viewed(tx, office_id, await queries.jobs_by_id(tx, ids))
            by_id = {job.id: job for job in shown}
            return [by_id[job_id] for job_id in ids]

        return await self._read(read)

    async def _viewed(self, tx: Tx, office_id: str, jobs: Sequence[JobRecord]) -> list[schemas.Job]:
        dependencies = await queries.dependencies_of_all(tx, jobs)
        view = self._serializer(office_id, await queries.now_us(tx))
        return [view.job(job, dependencies.get(job.id, ())) for job in jobs]

    async def _hand_over(self, tx: Tx, office: OfficeRecord, handlers: Handlers) -> None:
        """Give waiting jobs the handlers that the office's sessions name."""

        def of_job(role: str, meta: str | None) -> Handling | None:
            name = session_of(office.sessions, role)
            if name is None or not handlers.serves(name, role):
                return None
            own = meta_of(meta)
            return handling(office, handlers, name, role, own_timeout_ms=own.timeout_ms, own_retries=own.max_retries)

        await offices.hand_over(tx, self._store.lanes, office.queue, of_job)

    async def _moving(self, office_id: str, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Commit an operation that may hand jobs over, with the time that this takes."""
        queue = queue_of_office((await self._record(office_id)).id)
        jobs = await self._store.read(lambda tx: stock(tx, queue, self._store.unfolded))
        waiting = jobs.count(State.PENDING) + jobs.count(State.READY)
        return await self._write(operation, waiting)


async def job_of(tx: Tx, office_id: str, job_id: str) -> JobRecord:
    """A job of an existing office."""
    await offices.office_by_id(tx, office_id)
    for job in await queries.jobs_by_id(tx, [job_id]):
        if job.queue == queue_of_office(office_id):
            return job
    raise JobNotFound(str(job_id)[:_SHOWN])
