"""Use cases of operators on jobs: search, show, move, enqueue, and moves of many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, Unpack
from zoneinfo import ZoneInfo

import msgspec
from msgspec import UNSET

from hanbeon.clock import micros, seconds_of
from hanbeon.domain.actor import current_user
from hanbeon.domain.explain import waiting_for_worker
from hanbeon.domain.job import RESERVED, JobRecord, NewJob, is_id
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.domain.log import LogPosition
from hanbeon.domain.reserved_queues import check_not_reserved
from hanbeon.errors import Conflict, InvalidInput, JobNotFound, MovedElsewhere
from hanbeon.job_links import links_of
from hanbeon.rule import Rule
from hanbeon.service.explain import explain_job
from hanbeon.store.operations import cancel, job_search, queries
from hanbeon.store.operations.cancel import RetryNote, reprioritise, requeue
from hanbeon.store.operations.dispatches import waiting_in
from hanbeon.store.operations.hand_moves import hand_moves_of
from hanbeon.store.operations.instances import instances
from hanbeon.store.operations.job_indexes import JobSearch
from hanbeon.store.operations.logs import read_log
from hanbeon.store.turns import in_turns
from hanbeon.store.tx import Tx
from hanbeon.surfaces.engine import keywords, schemas
from hanbeon.surfaces.engine.serializers import Place, Serializer
from hanbeon.surfaces.job_view import explanation_view, log_view
from hanbeon.surfaces.moment import instant_of
from hanbeon.surfaces.schema import Explanation, Log
from hanbeon.surfaces.service import NewId, Service, may_exist, random_id
from hanbeon.surfaces.surface import JobPlace, load
from hanbeon.surfaces.validation import given_fields, or_default, validate
from hanbeon.tasks.options import duration_us
from hanbeon.tasks.task import settings_of


class EngineJobs(Service):
    """All jobs, whatever created them."""

    @property
    def _serializer(self) -> Serializer:
        return Serializer(self._zone, self._stored_json)

    async def jobs(self, **fields: Unpack[keywords.EngineJobQueryFields]) -> schemas.EngineJobPage:
        """Search all jobs, newest first. A page may be empty before the end: continue while there is a cursor."""
        if isinstance(fields.get("state"), str):
            fields["state"] = [str(fields["state"])]
        query = validate(schemas.EngineJobQuery, fields)
        cursor = or_default(query.cursor, None)
        search = self._search(query)
        if cursor is not None:
            _check_cursor(cursor, search)
        found = await self._read(lambda tx: job_search.search_jobs(tx, search, cursor, query.limit))
        return schemas.EngineJobPage(items=self.shown(found.jobs), next_cursor=found.cursor)

    async def job(self, job_id: str) -> schemas.EngineJobDetail:
        """Return a job with its timeline, its attempts, and the jobs before and behind it."""

        async def read(tx: Tx) -> schemas.EngineJobDetail:
            job = await queries.job_with_failure(tx, job_id)
            names = {each.id: each.name for each in await instances(tx, self._alive_within_us)}
            before = await job_search.dependencies_of(tx, job.seq)
            behind = await job_search.dependents_of(tx, job.seq)
            attempts = await queries.attempts_of(tx, job_id)
            stream = await waiting_in(tx, job)
            waiting = None if stream is None else waiting_for_worker(stream).text
            by_hand = await hand_moves_of(tx, job.seq)
            links = links_of(self._app.settings.job_links)
            return self._serializer.detail(
                job, self._place(job), attempts, names, before, behind, waiting, by_hand, links
            )

        return await self._read(read)

    async def log(self, job_id: str, **fields: Unpack[keywords.EngineLogQueryFields]) -> Log:
        """Return a page of a job's output, also while it runs; resume with the page's `after`."""
        query = validate(schemas.EngineLogQuery, fields)
        await self._record(job_id)
        after = or_default(query.after, None)
        position = LogPosition() if after is None else LogPosition.parse(after)
        found = await self._store.read(
            lambda tx: read_log(tx, job_id, or_default(query.attempt, None), position, query.limit)
        )
        return log_view(found, self._zone)

    async def explain(self, job_id: str) -> Explanation:
        """Return every reason why a job is not running, or why it failed."""
        private = self._place(await self._record(job_id)).private
        found = await explain_job(self._store, job_id, self._alive_within_us, private=private)
        return explanation_view(found, self._zone, lambda state: state.value)

    async def cancel(self, job_id: str) -> schemas.EngineCancelAnswer:
        """Cancel a job: at once, or as soon as its work has stopped."""
        await self._check_moves(job_id)
        state = await self._store.cancel(job_id)
        job = await self._record(job_id)
        stopping = state is State.RUNNING and job.state is State.RUNNING
        return schemas.EngineCancelAnswer(job=self._serializer.job(job, self._place(job)), stopping=stopping)

    async def retry(self, job_id: str, **fields: Unpack[keywords.EngineRetryFields]) -> schemas.EngineJob:
        """Run a failed or cancelled job again, with all its retries; attempt numbers continue.

        Its next attempts can read the comment, and get the arguments that are given.
        """
        request = validate(schemas.EngineRetry, fields)
        if (place := await self._check_moves(job_id)) is not None:
            raise Conflict(Rule("owner_of_part_deleted", job=job_id, surface=place.surface))
        note = self._retry_note((await self._record(job_id)).task, request)
        await self._store.write(partial(requeue, lanes=self._store.lanes, job_id=job_id, note=note))
        return await self._shown(job_id)

    async def mark_done(self, job_id: str, **fields: Unpack[keywords.EngineMarkDoneFields]) -> schemas.EngineJob:
        """Mark a failed or cancelled job as done, and say why; its dependents go on as if it had succeeded."""
        request = validate(schemas.EngineMarkDone, fields)
        if (place := await self._check_moves(job_id)) is not None:
            raise Conflict(Rule("owner_of_part_deleted", job=job_id, surface=place.surface))
        await self._write(self._marking_done(job_id, request))
        return await self._shown(job_id)

    async def reprioritise(self, job_id: str, **fields: Unpack[keywords.EnginePriorityFields]) -> schemas.EngineJob:
        """Change the priority of an unfinished job, or make it urgent, or both."""
        request = validate(schemas.EnginePriority, fields)
        await self._check_moves(job_id)
        priority, urgent = or_default(request.priority, None), or_default(request.urgent, None)
        if priority is None and urgent is None:
            raise InvalidInput(Rule("priority_or_urgent"), field="priority")
        await self._store.write(lambda tx: reprioritise(tx, self._store.lanes, job_id, priority, urgent))
        return await self._shown(job_id)

    async def enqueue(
        self, *, new_id: NewId = random_id, **fields: Unpack[keywords.NewEngineJobFields]
    ) -> schemas.EngineJob:
        """Create a job of a registered task; `copy_of`: like another job, with other arguments if some are given.

        Arguments are checked here if this App has the task; otherwise its worker checks them.
        """
        request = validate(schemas.NewEngineJob, fields)
        job_id = new_id(0)
        made = await self._read(lambda tx: queries.jobs_by_id(tx, [job_id])) if may_exist(new_id) else []
        if made:
            # A repeated request: the task or the copied job may have changed since, and would make another job.
            return await self._shown(job_id)
        base = await self._base(request, job_id)
        changes: dict[str, Any] = {}
        if request.args is not UNSET:
            changes["args"] = self._packed(base.task, request.args)
        for name in ("queue", "role", "priority", "urgent"):
            if (value := getattr(request, name)) is not UNSET:
                changes[name] = value
        if request.delay is not UNSET:
            changes["delay_us"] = micros(request.delay)
        if request.timeout_ms is not UNSET:
            changes["timeout_us"] = request.timeout_ms * 1_000
        if request.expires is not UNSET:
            changes |= _expiry(request.expires, self._zone)
        if request.max_retries is not UNSET:
            changes["policy"] = msgspec.structs.replace(base.policy, max_retries=request.max_retries)
        job = msgspec.structs.replace(base, **changes)
        check_not_reserved(job.queue)
        if (task := self._app.tasks.by_name.get(job.task)) is not None:
            task.check_role(job.role)
        job.validate(self._app.settings.max_payload_bytes)
        await self._store.enqueue([job])
        return await self._shown(job_id)

    async def bulk(self, **fields: Unpack[keywords.BulkFields]) -> schemas.BulkDone:
        """Cancel or retry the jobs that match, a batch at a time: ask again while `more` is true.

        Jobs that a batch has moved no longer match, so a repeat after a lost answer goes on where it stopped. With the
        answer's `next_cursor` it goes through the jobs once: what was retried and has failed again is left alone.
        """
        request = validate(schemas.Bulk, fields)
        retrying = request.action is schemas.BulkAction.RETRY
        allowed = (State.FAILED, State.CANCELLED) if retrying else tuple(sorted(UNFINISHED))
        search = self._search(request.filter)
        chosen = allowed if search.states is None else tuple(state for state in search.states if state in allowed)
        if not chosen:
            raise InvalidInput(
                Rule("states_for_action", choices=allowed, action=request.action.value), field="filter.state"
            )
        search = msgspec.structs.replace(search, states=chosen)
        cursor, as_of = await self._bulk_position(or_default(request.cursor, None), search)
        matched = 0
        moved: list[str] = []
        # Those that cannot be moved still match the next time: they do not count, or a repeat would get no further.
        while (room := schemas.BULK_MOST - (matched if request.dry_run else len(moved))) > 0:
            found = await self._read(partial(job_search.search_jobs, search=search, cursor=cursor, limit=room))
            movable = await self._movable(found.jobs, as_of, retrying=retrying)
            matched += len(movable)
            if not request.dry_run:
                move = self._retry if retrying else partial(self._cancel, states=chosen)
                moved += chain.from_iterable(await in_turns(movable, move))
            cursor = found.cursor
            if cursor is None:
                break
        place = None if cursor is None else f"{cursor}.{as_of}"
        more = cursor is not None
        return schemas.BulkDone(matched=matched, done=len(moved), more=more, next_cursor=place, ids=moved)

    async def _bulk_position(self, given: str | None, search: JobSearch) -> tuple[str | None, int]:
        """Where a bulk move goes on, and the instant of its first call: what ended since is left alone."""
        if given is None:
            return None, await self._read(queries.now_us)
        cursor, _, as_of = given.partition(".")
        _check_cursor(cursor, search)
        return cursor, int(as_of)

    async def _cancel(self, jobs: Sequence[JobRecord], states: tuple[State, ...]) -> list[str]:
        """Cancel a batch and return the ids; one whose state has changed in the meantime is left alone."""
        seqs = [job.seq for job in jobs]
        return await self._write(lambda tx: cancel.cancel_these(tx, self._store.lanes, seqs, states))

    async def _retry(self, jobs: Sequence[JobRecord]) -> list[str]:
        """Run a batch again and return the ids; one whose state has changed in the meantime is left alone."""
        fences, user = {job.seq: job.fence for job in jobs}, current_user()
        done, alone = await self._write(lambda tx: cancel.requeue_these(tx, self._store.lanes, fences, user))
        for job_id in alone:
            try:
                note = RetryNote(user)
                await self._store.write(partial(requeue, lanes=self._store.lanes, job_id=job_id, note=note))
            except (Conflict, JobNotFound):
                continue
            done.append(job_id)
        return done

    # Shared helpers

    def _search(self, filter: schemas.JobFilter) -> JobSearch:
        given = {name: value for name, value in given_fields(filter).items() if value is not None}
        for name in ("cursor", "limit"):
            given.pop(name, None)
        states = given.pop("state", None)
        if isinstance(states, State):
            states = [states]
        for name in ("created_after", "created_before"):
            if name in given:
                given[name] = instant_of(given[name], name, self._zone)
        return JobSearch(states=None if states is None else tuple(states), **given)

    async def _base(self, request: schemas.NewEngineJob, job_id: str) -> NewJob:
        """The job before the changes of the request: of a task, or a copy of another."""
        if request.copy_of is not UNSET:
            try:
                job = await self._record(request.copy_of)
            except JobNotFound as error:
                raise InvalidInput(Rule("copy_not_an_id", error=error), field="copy_of") from error
            if request.task not in (UNSET, job.task):
                raise InvalidInput(Rule("task_of_copy", task=repr(job.task)), field="task")
            await self._check_moves(job.id)
            if job.task.startswith(RESERVED):
                raise InvalidInput(Rule("built_in_copy", task=repr(job.task)), field="copy_of")
            return NewJob(
                id=job_id,
                task=job.task,
                args=job.args,
                queue=job.queue,
                role=job.role,
                concurrency_key=job.concurrency_key,
                priority=job.priority,
                urgent=job.urgent,
                timeout_us=job.timeout_us,
                policy=job.policy,
                work_item=job.work_item,
            )
        if request.task is UNSET:
            raise InvalidInput(Rule("task_or_copy"), field="task")
        name = request.task
        if name in self._app.tasks.names():
            settings = settings_of(self._app.tasks.get(name).options)
        else:
            settings = (await self._read(lambda tx: self._known_task(tx, name, "task"))).settings
        return NewJob(
            id=job_id,
            task=name,
            args=self._packed(name, {}) if request.args is UNSET else "{}",
            queue=settings.queue,
            role=settings.role,
            priority=settings.priority,
            timeout_us=settings.timeout_us,
            expires_us=settings.expires_us,
            policy=settings.policy,
        )

    def _place(self, job: JobRecord) -> Place:
        """Where the surface that made a job shows it, and if it may be moved as a job."""
        for surface, place_of in self._places:
            if (found := place_of(job)) is not None:
                return Place(surface, *found)
        return Place()

    @cached_property
    def _places(self) -> list[tuple[str, Callable[[JobRecord], JobPlace | None]]]:
        """Functions that find the place of a job, by surface: imported once and not for every job of a list."""
        return [(each.name, load(each.job_place)) for each in self._app.surfaces if each.job_place is not None]

    async def _check_moves(self, job_id: str) -> Place | None:
        """Raise for a job that its surface moves; return the place of one that its surface has no more."""
        place = self._place(await self._record(job_id))
        if place.moves:
            return None
        if place.exists is None or await self._read(place.exists):
            raise MovedElsewhere(job_id, str(place.surface), place.path)
        return place

    async def _movable(self, jobs: Sequence[JobRecord], as_of: int, *, retrying: bool) -> list[JobRecord]:
        """Leave out jobs that their surfaces move; one that its surface has no more can be cancelled, not retried."""
        places = [(job, self._place(job)) for job in jobs if _movable(job, as_of)]
        elsewhere = {} if retrying else {place.path: place.exists for _, place in places if place.exists is not None}

        async def gone(tx: Tx) -> set[str | None]:
            return {path for path, exists in elsewhere.items() if not await exists(tx)}

        left = await self._read(gone) if elsewhere else set()
        return [job for job, place in places if place.moves or place.path in left]

    async def _record(self, job_id: str) -> JobRecord:
        return await self._read(lambda tx: _job(tx, job_id))

    def shown(self, jobs: Sequence[JobRecord]) -> list[schemas.EngineJob]:
        """Return jobs that `App.jobs` listed as the other methods return them."""
        view = self._serializer
        return [view.job(job, self._place(job)) for job in jobs]

    async def _shown(self, job_id: str) -> schemas.EngineJob:
        (shown,) = self.shown([await self._record(job_id)])
        return shown


def _check_cursor(cursor: str, search: JobSearch) -> None:
    if is_id(cursor) != (search.id is not None):
        raise InvalidInput(Rule("must_be", what=Rule("next_cursor_of_filter")), field="cursor")


def _expiry(value: float | str, zone: ZoneInfo) -> dict[str, int | None]:
    """Return the fields of a job that expires after so many seconds, a duration as text, or at an instant."""
    if isinstance(value, str) and "-" in value:  # A span has no date.
        return {"expires_us": None, "expires_at_us": instant_of(value, "expires", zone)}
    seconds = seconds_of(value, "expires") if isinstance(value, str) else value
    return {"expires_us": duration_us(seconds, "expires"), "expires_at_us": None}


def _movable(job: JobRecord, as_of: int) -> bool:
    return job.stop_requested_at is None if job.finished_at is None else job.finished_at < as_of


async def _job(tx: Tx, job_id: str) -> JobRecord:
    found = await queries.jobs_by_id(tx, [job_id])
    if not found:
        raise JobNotFound(job_id[:80])
    return found[0]
