"""Use cases of an office's jobs: create, list, move, and explain why they do not run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Unpack

import msgspec

from hanbeon.domain.job import NO_HANDLER, JobRecord
from hanbeon.domain.lifecycle import UNFINISHED, Reason, State, sources_of
from hanbeon.domain.log import LogPosition
from hanbeon.errors import InvalidInput, WrongState
from hanbeon.rule import Rule
from hanbeon.service.explain import explain_job
from hanbeon.store.batch_cancel import cancel_newest
from hanbeon.store.operations import queries
from hanbeon.store.operations.cancel import CancelFilter, reprioritise, requeue
from hanbeon.store.operations.logs import read_log
from hanbeon.store.tx import Tx
from hanbeon.surfaces.job_view import log_view
from hanbeon.surfaces.offices import keywords, schemas, serializers
from hanbeon.surfaces.offices import rows as offices
from hanbeon.surfaces.offices.base import OfficeService, job_of
from hanbeon.surfaces.offices.job_creation import make_jobs
from hanbeon.surfaces.offices.job_plan import plan
from hanbeon.surfaces.offices.queue import queue_of_office
from hanbeon.surfaces.offices.vocabulary import JobStatus, selected, status_of_state
from hanbeon.surfaces.schema import Explanation, Log
from hanbeon.surfaces.service import NewId, random_id
from hanbeon.surfaces.validation import or_default, validate


class OfficeJobs(OfficeService):
    """Jobs of offices. A job of another office is not found."""

    async def create_jobs(
        self, office_id: str, *, new_id: NewId = random_id, **fields: Unpack[keywords.JobBatchFields]
    ) -> schemas.JobsCreated:
        """Create the jobs, all or none, and return them in the same order."""
        batch = validate(schemas.JobGraph, fields)
        office = await self._record(office_id)
        planned = plan(batch.jobs, new_id)
        handlers = await self._handlers({each.spec.handler for each in planned if each.spec.handler is not None})
        made = await make_jobs(self._store, office, planned, handlers, self._app.settings.max_payload_bytes)
        view = self._serializer(office_id, made.now)
        return schemas.JobsCreated(jobs=[view.job(job, made.dependencies.get(job.id, ())) for job in made.jobs])

    async def jobs(self, office_id: str, **fields: Unpack[keywords.JobQueryFields]) -> schemas.JobPage:
        """List jobs in creation order."""
        status = fields.get("status")
        if isinstance(status, str):
            fields["status"] = [status]
        query = validate(schemas.JobQuery, fields)
        filter = queries.JobFilter(
            queue=queue_of_office(office_id),
            role=or_default(query.role, None),
            work_item=or_default(query.task_id, None),
        )
        if (statuses := or_default(query.status, None)) is not None:
            states, overdue = selected(statuses)
            filter = msgspec.structs.replace(filter, states=states, overdue=overdue)

        async def read(tx: Tx) -> schemas.JobPage:
            await offices.office_by_id(tx, office_id)
            page, dependencies = await queries.dependencies_of_page(
                tx, await queries.queue_page(tx, filter, _after(query), query.limit)
            )
            view = self._serializer(office_id, await queries.now_us(tx))
            items = [view.job(job, dependencies.get(job.id, ())) for job in page.items]
            return schemas.JobPage(items=items, next_cursor=page.cursor(_cursor))

        return await self._read(read)

    async def job(self, office_id: str, job_id: str) -> schemas.JobDetail:
        """Return one job with its executions."""

        async def read(tx: Tx) -> schemas.JobDetail:
            job = await job_of(tx, office_id, job_id)
            view = self._serializer(office_id, await queries.now_us(tx))
            return view.detail(
                job, await queries.dependencies_of(tx, job_id), await queries.latest_attempts(tx, job_id)
            )

        return await self._read(read)

    async def cancel(self, office_id: str, job_id: str) -> schemas.CancelAnswer:
        """Cancel a job: at once, or as soon as its work has stopped. One that is done or failed is a conflict."""
        await self._checked(office_id, job_id)
        with _in_office_words("cancelled", sorted(UNFINISHED)):
            state = await self._store.cancel(job_id)
        (job,) = await self._views(office_id, [job_id])
        # Its work may have stopped in the meantime.
        return schemas.CancelAnswer(job=job, stopping=state is State.RUNNING and job.status is not JobStatus.CANCELLED)

    async def cancel_all(self, office_id: str, **fields: Unpack[keywords.CancelAllFields]) -> schemas.CancelledAll:
        """Cancel the unfinished jobs that match, newest first and up to 100,000; return the accepted ids.

        If `more` is true, others match: call it again. Jobs are cancelled in small batches, so that others can write
        in between; a repeat after a lost answer goes on where it stopped.
        """
        request = validate(schemas.CancelAll, fields)
        await self._record(office_id)
        chosen = CancelFilter(
            queue=queue_of_office(office_id),
            role=or_default(request.role, None),
            work_item=or_default(request.task_id, None),
        )
        if (statuses := or_default(request.statuses, None)) is not None:
            states, overdue = selected(statuses)
            chosen = msgspec.structs.replace(chosen, states=states, overdue=overdue)
        accepted, more = await cancel_newest(self._store, chosen, schemas.CANCEL_MOST)
        return schemas.CancelledAll(cancelled=accepted, more=more)

    async def retry(self, office_id: str, job_id: str, **fields: Unpack[keywords.JobRetryFields]) -> schemas.Job:
        """Run a failed or cancelled job again, with all its retries; attempt numbers continue.

        Its next attempts can read the comment, and get the arguments that are given.
        """
        request = validate(schemas.JobRetry, fields)
        note = self._retry_note((await self._checked(office_id, job_id)).task, request)
        handlers = await self._handlers(())

        async def retry(tx: Tx) -> None:
            await offices.keep_office(tx, office_id)
            job = await job_of(tx, office_id, job_id)
            await requeue(tx, self._store.lanes, job_id, note)
            if job.task == NO_HANDLER:
                await self._hand_over(tx, await offices.office_by_id(tx, office_id), handlers)

        with _in_office_words("retried", sources_of(Reason.REQUEUED)):
            await self._moving(office_id, retry)
        (job,) = await self._views(office_id, [job_id])
        return job

    async def mark_done(self, office_id: str, job_id: str, **fields: Unpack[keywords.JobMarkDoneFields]) -> schemas.Job:
        """Mark a failed or cancelled job as done, and say why; its dependents go on as if it had succeeded."""
        mark = self._marking_done(job_id, validate(schemas.JobMarkDone, fields))
        await self._checked(office_id, job_id)
        with _in_office_words("marked as done", sources_of(Reason.MARKED_DONE)):
            await self._write(mark)
        (job,) = await self._views(office_id, [job_id])
        return job

    async def reprioritise(self, office_id: str, job_id: str, **fields: Unpack[keywords.PriorityFields]) -> schemas.Job:
        """Change the priority of an unfinished job, or make it urgent, or both."""
        request = validate(schemas.Priority, fields)
        await self._checked(office_id, job_id)
        priority, urgent = or_default(request.priority, None), or_default(request.urgent, None)
        if priority is None and urgent is None:
            raise InvalidInput(Rule("priority_or_urgent"), field="priority")
        with _in_office_words("reprioritised", sources_of(Reason.REPRIORITISED)):
            await self._store.write(lambda tx: reprioritise(tx, self._store.lanes, job_id, priority, urgent))
        (job,) = await self._views(office_id, [job_id])
        return job

    async def log(self, office_id: str, job_id: str, **fields: Unpack[keywords.LogQueryFields]) -> Log:
        """Return a page of a job's output, also while it runs; resume with the page's `after`."""
        query = validate(schemas.LogQuery, fields)
        await self._checked(office_id, job_id)
        after = or_default(query.after, None)
        at = LogPosition() if after is None else LogPosition.parse(after)
        found = await self._store.read(
            lambda tx: read_log(tx, job_id, or_default(query.attempt, None), at, query.limit)
        )
        return log_view(found, self._zone)

    async def explain(self, office_id: str, job_id: str) -> Explanation:
        """Return every reason why a job is not running, or why it failed."""
        await self._checked(office_id, job_id)
        found = await explain_job(self._store, job_id, self._alive_within_us)
        return serializers.explanation_view(found, office_id, self._zone)

    async def graph(self, office_id: str, **fields: Unpack[keywords.GraphQueryFields]) -> schemas.Graph:
        """Return a page of jobs in creation order as nodes, with their dependencies as edges."""
        query = validate(schemas.GraphQuery, fields)
        filter = queries.JobFilter(queue=queue_of_office(office_id), work_item=or_default(query.task_id, None))

        async def read(tx: Tx) -> schemas.Graph:
            await offices.office_by_id(tx, office_id)
            page, dependencies = await queries.dependencies_of_page(
                tx, await queries.queue_page(tx, filter, _after(query), query.limit, queries.Contents.NODE)
            )
            view = self._serializer(office_id, await queries.now_us(tx))
            return schemas.Graph(
                nodes=[view.node(job) for job in page.items],
                edges=serializers.edges(dependencies),
                next_cursor=page.cursor(_cursor),
            )

        return await self._read(read)


def _after(query: schemas.JobQuery | schemas.GraphQuery) -> int:
    return int(or_default(query.cursor, "0"))


def _cursor(job: JobRecord) -> int:
    return job.seq


@contextlib.contextmanager
def _in_office_words(verb: str, allowed: Sequence[str]) -> Iterator[None]:
    """Translate a rejected move to the statuses of offices."""
    try:
        yield
    except WrongState as error:
        words = [status_of_state(State(state)).value for state in allowed]
        raise WrongState(error.job_id, status_of_state(State(error.state)).value, verb, words) from error
