"""The jobs of an office: make, look, move, and ask why they do not run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.job import NO_HANDLER, PRIORITY_MAX, PRIORITY_MIN, JobRecord
from hanbeon.domain.lifecycle import UNFINISHED, Reason, State, sources_of
from hanbeon.domain.log import LogPlace, check_log_range
from hanbeon.domain.offices import queue_of_office
from hanbeon.errors import InvalidInput, WrongState
from hanbeon.service.explain import explain_job
from hanbeon.store.operations import offices, queries
from hanbeon.store.operations.cancel import CancelFilter, requeue
from hanbeon.store.operations.lanes import LaneNumbers
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices import schemas, serializers
from hanbeon.surfaces.offices.base import OfficeService, job_of
from hanbeon.surfaces.offices.job_creation import make_jobs
from hanbeon.surfaces.offices.job_plan import plan, read_specs
from hanbeon.surfaces.offices.vocabulary import JobStatus, in_engine_words, status_of_state
from hanbeon.surfaces.validation import page_size, place, table, text, whole

_ALL: Mapping[str, Any] = {}


class OfficeJobs(OfficeService):
    """What a transport asks about jobs. A job of another office is not found here."""

    async def create_jobs(self, office_id: str, told: Any) -> list[schemas.Job]:
        """Make the jobs of `{jobs: […]}`, all or none; they answer in the same order."""
        office = await self._record(office_id)
        given = table(told, "a batch", ("jobs",))
        if "jobs" not in given:
            raise InvalidInput("it is missing; send a list of jobs", field="jobs")
        planned = plan(read_specs(given["jobs"]))
        handlers = await self._handlers({each.spec.handler for each in planned if each.spec.handler is not None})
        made = await make_jobs(self._store, office, planned, handlers, self._app.settings.max_payload_bytes)
        view = serializers.Serializer(office_id, made.now, self._zone)
        return [view.job(job, made.dependencies.get(job.id, ())) for job in made.jobs]

    async def jobs(
        self,
        office_id: str,
        *,
        status: Sequence[str] | str | None = None,
        role: str | None = None,
        task_id: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> schemas.JobPage:
        """Jobs in creation order; go on with the page's `next_cursor`."""
        filter = _filter(office_id, status, role, task_id)
        after, size = place(cursor), page_size(limit)

        async def page(tx: Tx) -> schemas.JobPage:
            await offices.office_by_id(tx, office_id)
            found = await queries.queue_page(tx, filter, after, size + 1)
            shown = await self._viewed(tx, office_id, found[:size])
            return schemas.JobPage(items=shown, next_cursor=_next(found, size))

        return await self._store.read(page)

    async def job(self, office_id: str, job_id: str) -> schemas.JobDetail:
        """One job, with its executions."""

        async def detail(tx: Tx) -> schemas.JobDetail:
            job = await job_of(tx, office_id, job_id)
            view = serializers.Serializer(office_id, await queries.now_us(tx), self._zone)
            return view.detail(job, await queries.dependencies_of(tx, job_id), await queries.attempts_of(tx, job_id))

        return await self._store.read(detail)

    async def cancel(self, office_id: str, job_id: str) -> schemas.CancelAnswer:
        """Cancel a job: at once, or as soon as its work has stopped. Once done or failed it is refused."""
        await self._checked(office_id, job_id)
        with _in_office_words("cancelled", sorted(UNFINISHED)):
            state = await self._store.cancel(job_id)
        (job,) = await self._views(office_id, [job_id])
        # Its work may have stopped since it was asked to.
        return schemas.CancelAnswer(job=job, stopping=state is State.RUNNING and job.status is not JobStatus.CANCELLED)

    async def cancel_all(self, office_id: str, told: Any = _ALL) -> schemas.CancelledAll:
        """Cancel every unfinished job that matches `{task_id?, statuses?, role?}`; the ids accepted."""
        given = table(told, "cancel-all", ("task_id", "statuses", "role"))
        await self._record(office_id)
        chosen = CancelFilter(
            queue=queue_of_office(office_id),
            role=_text(given.get("role"), "role"),
            work_item=_text(given.get("task_id"), "task_id"),
        )
        statuses = given.get("statuses")
        if statuses is not None:
            if not isinstance(statuses, list | tuple):
                raise InvalidInput("use a list of statuses", field="statuses")
            states, overdue = in_engine_words(statuses, "statuses", UNFINISHED)
            chosen = msgspec.structs.replace(chosen, states=states, overdue=overdue)
        return schemas.CancelledAll(cancelled=await self._store.cancel_where(chosen))

    async def retry(self, office_id: str, job_id: str) -> schemas.Job:
        """Try a failed or cancelled job again, with all its retries; attempt numbers go on."""
        handlers = await self._handlers(())
        made: LaneNumbers = []

        async def retry(tx: Tx) -> None:
            await offices.keep_office(tx, office_id)
            job = await job_of(tx, office_id, job_id)
            await requeue(tx, self._store.book, job_id)
            if job.task == NO_HANDLER:
                made[:] = await self._hand_over(tx, await offices.office_by_id(tx, office_id), handlers)

        with _in_office_words("retried", sources_of(Reason.REQUEUED)):
            await self._moving(office_id, retry, made)
        (job,) = await self._views(office_id, [job_id])
        return job

    async def reprioritise(self, office_id: str, job_id: str, told: Any) -> schemas.Job:
        """Move an unfinished job: `{priority?, urgent?}`, lower before higher, and urgent before all others."""
        await self._checked(office_id, job_id)
        given = table(told, "a priority", ("priority", "urgent"))
        priority, urgent = given.get("priority"), given.get("urgent")
        if priority is None and urgent is None:
            raise InvalidInput("give a priority, urgent, or both", field="priority")
        if priority is not None:
            whole(priority, "priority", PRIORITY_MIN, PRIORITY_MAX)
        if urgent is not None and not isinstance(urgent, bool):
            raise InvalidInput("use true or false", field="urgent")
        with _in_office_words("reprioritised", sources_of(Reason.REPRIORITISED)):
            await self._store.reprioritise(job_id, priority, urgent)
        (job,) = await self._views(office_id, [job_id])
        return job

    async def log(
        self, office_id: str, job_id: str, *, attempt: int | None = None, after: str | None = None, limit: int = 1_000
    ) -> schemas.Log:
        """What a job printed, also while it runs; go on with the page's `after`."""
        await self._checked(office_id, job_id)
        check_log_range(attempt, limit)
        at = LogPlace() if after is None else LogPlace.parse(after)
        return serializers.log_view(await self._store.log(job_id, attempt, at, limit), self._zone)

    async def explain(self, office_id: str, job_id: str) -> schemas.Explanation:
        """Why it is not running, with every reason there is now; or why it failed."""
        await self._checked(office_id, job_id)
        found = await explain_job(self._store, job_id, self._alive_within_us)
        return serializers.explanation_view(found, office_id, self._zone)

    async def graph(
        self, office_id: str, *, task_id: str | None = None, cursor: str | None = None, limit: int = 1_000
    ) -> schemas.Graph:
        """Jobs in creation order as nodes, with their dependencies as edges; a page of them at a time."""
        filter = _filter(office_id, None, None, task_id)
        after, size = place(cursor), page_size(limit)

        async def page(tx: Tx) -> schemas.Graph:
            await offices.office_by_id(tx, office_id)
            found = await queries.queue_page(tx, filter, after, size + 1)
            view = serializers.Serializer(office_id, await queries.now_us(tx), self._zone)
            edges = serializers.edges(await queries.dependencies_of_all(tx, found[:size]))
            nodes = [view.node(job) for job in found[:size]]
            return schemas.Graph(nodes=nodes, edges=edges, next_cursor=_next(found, size))

        return await self._store.read(page)


def _filter(
    office_id: str, status: Sequence[str] | str | None, role: str | None, task_id: str | None
) -> queries.JobFilter:
    chosen = queries.JobFilter(
        queue=queue_of_office(office_id), role=_text(role, "role"), work_item=_text(task_id, "task_id")
    )
    if status is None:
        return chosen
    states, overdue = in_engine_words([status] if isinstance(status, str) else status, "status")
    return msgspec.structs.replace(chosen, states=states, overdue=overdue)


def _text(told: Any, field: str) -> str | None:
    return None if told is None else text(told, field, required=False)


def _next(found: Sequence[JobRecord], size: int) -> str | None:
    return str(found[size - 1].seq) if len(found) > size else None


@contextlib.contextmanager
def _in_office_words(verb: str, allowed: Sequence[str]) -> Iterator[None]:
    """A move that the job's state forbids is refused in the words that the office uses for states."""
    try:
        yield
    except WrongState as error:
        words = [status_of_state(State(state)).value for state in allowed]
        raise WrongState(error.job_id, status_of_state(State(error.state)).value, verb, words) from error
