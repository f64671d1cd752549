"""Use cases of operators; `Engine` is what transports and Python callers use."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any, Unpack

import msgspec

from hanbeon.clock import MICROS, micros
from hanbeon.domain import failures
from hanbeon.domain.event_cursor import Cursor, EventPosition
from hanbeon.domain.job import check_name
from hanbeon.domain.lifecycle import State
from hanbeon.domain.reserved_queues import check_limits_free, is_of_surface
from hanbeon.domain.statistics import LATE_US, summarise
from hanbeon.domain.tally import Flow, Stock
from hanbeon.domain.timing.checks import check_instant
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.events.broadcast import Broadcast
from hanbeon.events.changes import ChangeFollower
from hanbeon.events.follower import Follower
from hanbeon.rule import Rule
from hanbeon.service import tokens
from hanbeon.settings import Settings, shown
from hanbeon.store.backends import absolute_url
from hanbeon.store.operations import actions, queries, tallies, tasks
from hanbeon.store.operations.instances import drain, instances
from hanbeon.store.operations.job_search import latest_failures
from hanbeon.store.operations.overview import LateQueue, queue_page, read_overview
from hanbeon.store.operations.queues import QueueRecord, add_queue, change_queue
from hanbeon.store.operations.tallies import statistics
from hanbeon.store.tx import Tx
from hanbeon.surfaces.engine import keywords, overview, schemas
from hanbeon.surfaces.engine.deadletters import EngineDeadLetters
from hanbeon.surfaces.engine.events import change, serializer, translated
from hanbeon.surfaces.event_page import EventSource, read_page
from hanbeon.surfaces.moment import instant_of
from hanbeon.surfaces.numbers import number_of
from hanbeon.surfaces.service import NewId, page, random_id
from hanbeon.surfaces.validation import given_fields, or_default, validate

_RUNNING_MOST = 1_000
_TASKS_MOST = 100_000
_HOUR = 3_600


class Engine(EngineDeadLetters):
    """Jobs, queues, workers, statistics, tokens and actions of one installation."""

    async def overview(self) -> overview.EngineOverview:
        """Return the numbers of the whole installation: jobs by state, late queues, workers that are alive."""
        found, view = (
            await self._store.read(lambda tx: read_overview(tx, self._alive_within_us, LATE_US, self._store.unfolded)),
            self._serializer,
        )
        waited = found.oldest_ready_us
        return overview.EngineOverview(
            at=view.iso(found.at),
            states=found.states,
            queues=found.queues,
            oldest_ready=None if waited is None else waited / MICROS,
            late_queues=len(found.late),
            late=_waiting(found.late),
            paused_queues=len(found.paused),
            paused=_waiting(found.paused),
            workers=found.workers,
            slots=found.slots,
        )

    async def queues(self, **fields: Unpack[keywords.QueueQueryFields]) -> schemas.EngineQueues:
        """List the queues by name, with their limits, the number of their jobs, and their activity in `window`."""
        query = validate(schemas.QueueQuery, fields)
        after, like = or_default(query.cursor, None) or "", or_default(query.name, None)
        window, unfolded = micros(query.window), self._store.unfolded
        page, numbers, at = await self._store.read(
            lambda tx: queue_page(tx, after, query.limit, window, like, unfolded)
        )
        view = self._serializer
        return schemas.EngineQueues(
            at=view.iso(at),
            items=[view.queue(each, numbers[each.name]) for each in page.items],
            next_cursor=page.cursor(lambda queue: queue.name),
        )

    async def change_queue(self, name: str, **fields: Unpack[keywords.QueueChangeFields]) -> schemas.EngineQueue:
        """Change the limits of a queue, or pause and resume it. In force at the next claim, on every instance."""
        check_name("name", name, required=True)
        changes = given_fields(validate(schemas.QueueChange, fields))
        paused = changes.pop("paused", None)
        check_limits_free(name, changes)

        async def change(tx: Tx) -> QueueRecord:
            return await change_queue(tx, name, changes or None, paused)

        try:
            changed = await self._write(change)
        except NotFound:
            if not await self._awaits_jobs(name):
                raise
            await self._write(lambda tx: add_queue(tx, name))
            changed = await self._write(change)
        numbers = await self._store.read(lambda tx: statistics(tx, name, micros(_HOUR), self._store.unfolded))
        return self._serializer.queue(changed, numbers[name])

    async def _awaits_jobs(self, queue: str) -> bool:
        """True for a queue whose name is known before its first job: a surface's, and that of a registered task."""
        if is_of_surface(queue) or any(task.options.queue == queue for task in self._app.tasks.by_name.values()):
            return True
        known = await self._read(lambda tx: tasks.tasks(tx, limit=_TASKS_MOST))
        return any(task.settings.queue == queue for task in known)

    async def instances(self) -> schemas.EngineInstances:
        """List the workers, newest last, with the jobs that each of them runs, the longest-running first."""

        async def read(tx: Tx) -> schemas.EngineInstances:
            running: defaultdict[int, list[queries.HeldJob]] = defaultdict(list)
            for job in await queries.held_jobs(tx, _RUNNING_MOST):
                running[job.instance].append(job)
            view = self._serializer
            found = await instances(tx, self._alive_within_us)
            return schemas.EngineInstances(items=[view.instance(each, running[each.id]) for each in found])

        return await self._read(read)

    async def drain(self, number: int | str) -> schemas.EngineInstance:
        """Tell a worker to claim nothing more; what it runs goes on. Nothing else is stopped."""
        return await self._drain(number, on=True)

    async def resume(self, number: int | str) -> schemas.EngineInstance:
        """Let a drained worker claim again."""
        return await self._drain(number, on=False)

    async def _drain(self, number: int | str, *, on: bool) -> schemas.EngineInstance:
        instance = _number(number, Rule("instance_not_found", instance=_shown(number)))
        await self._write(lambda tx: drain(tx, instance, on=on))
        (found,) = (each for each in (await self.instances()).items if each.id == instance)
        return found

    async def statistics(self, **fields: Unpack[keywords.StatisticsQueryFields]) -> schemas.EngineStatistics:
        """Return what went through, step by step. Steps begin at multiples of their length since 1970 UTC."""
        query = validate(schemas.StatisticsQuery, fields)
        if query.step % schemas.STEP_LEAST:
            raise InvalidInput(Rule("step_not_multiple", step=schemas.STEP_LEAST, got=query.step), field="step")
        queue = or_default(query.queue, None)
        step = micros(query.step)

        async def read(tx: Tx) -> tuple[Stock, dict[int, Flow], int, int]:
            now = await queries.now_us(tx)
            end = now if isinstance(query.end, msgspec.UnsetType) else instant_of(query.end, "to", self._zone)
            start = end - micros(_HOUR)
            if not isinstance(query.start, msgspec.UnsetType):
                start = instant_of(query.start, "from", self._zone)
            # Near the first and the last year of the calendar the steps would begin or end outside it.
            check_instant(end, "to")
            check_instant(start, "from")
            first, last = start - start % step, end - (end - 1) % step - 1 + step
            if not start < end:
                raise InvalidInput(Rule("from_after_to"), field="from")
            if (last - first) // step > schemas.STEPS_MOST:
                raise InvalidInput(
                    Rule("step_too_short", steps=(last - first) // step, most=schemas.STEPS_MOST), field="step"
                )
            stock, flows = await tallies.flows_between(tx, queue, first, last, step, self._store.unfolded)
            return stock, flows, first, last

        try:
            stock, flows, first, last = await self._read(read)
        except NotFound as error:
            raise InvalidInput(Rule("not_a_queue_name", error=error), field="queue") from error
        items = [self._step(at, flows.get(at, Flow()), step) for at in range(first, last, step)]
        states = {state: stock.count(state) for state in State}
        return schemas.EngineStatistics(states=states, step=query.step, items=items)

    def _step(self, at: int, flow: Flow, step: int) -> schemas.StatisticsStep:
        numbers = summarise(Stock(), flow, oldest_ready_us=None, span_us=step)
        known: dict[str, Any] = {name: getattr(numbers, name) for name in schemas.Activity.__struct_fields__}
        return schemas.StatisticsStep(at=self._serializer.iso(at), failures=dict(flow.failures), **known)

    async def failures(self, **fields: Unpack[keywords.FailureQueryFields]) -> schemas.FailureGroups:
        """Group the latest failures by task and error, the most frequent first."""
        query = validate(schemas.FailureQuery, fields)
        found = await self._read(lambda tx: latest_failures(tx, micros(query.seconds)))
        view = self._serializer
        items = [
            schemas.FailureGroup(
                task=each.task,
                failure_type=each.failure_type,
                message=each.message,
                count=each.count,
                first_at=view.iso(each.first_at),
                last_at=view.iso(each.last_at),
                last_id=each.last_id,
            )
            for each in failures.grouped(found)[: query.limit]
        ]
        return schemas.FailureGroups(items=items, looked_at=len(found))

    async def actions(self, **fields: Unpack[keywords.ActionQueryFields]) -> schemas.ActionPage:
        """List who did what over REST and the command line, newest first."""
        query = validate(schemas.ActionQuery, fields)
        cursor = or_default(query.cursor, None)
        before, user = None if cursor is None else int(cursor), or_default(query.user, None)
        found = await self._read(lambda tx: actions.actions(tx, before, user, query.limit + 1))
        items, next_cursor = page(found, query.limit, lambda action: action.seq)
        view = self._serializer
        return schemas.ActionPage(
            items=[
                schemas.Action(
                    id=each.seq,
                    at=view.iso(each.at),
                    user=each.user_name,
                    via=each.via,
                    action=each.action,
                    target=each.target,
                    count=each.count,
                )
                for each in items
            ],
            next_cursor=next_cursor,
        )

    async def events(self, *, after: Cursor = 0) -> schemas.EngineEventPage:
        """Return the next moves of jobs after the event with this id; resume with the page's `after` or `cursor`."""
        source = EventSource(None, lambda event: translated(event, self._zone))
        return await read_page(self._feed, source, after, schemas.EngineEventPage)

    async def follow(self, *, after: Cursor = 0) -> AsyncIterator[schemas.EngineEvent]:
        """Yield the moves of jobs after the event `after`, without end. Raises EventsMissed if events are gone."""
        position = (await self._feed.position(after)).without_gap()
        async for event in self._feed.follow(position.after):
            found = translated(event, self._zone)
            if found is not None:
                yield found

    async def following(
        self, broadcast: Broadcast, *, after: Cursor = 0
    ) -> contextlib.AbstractContextManager[Follower]:
        """Subscribe to the moves of all jobs after this event. However many subscribers, events are read once."""
        return broadcast.following(None, serializer(self._zone), await self._feed.position(after))

    async def changes(
        self, broadcast: Broadcast, *, after: Cursor = 0
    ) -> contextlib.AbstractContextManager[ChangeFollower]:
        """Subscribe to hints that something has changed. They cost the same, however much changes."""
        position = EventPosition(self._store.incarnation, 0)
        return await broadcast.changes.join(position, lambda: change(self._app.clock.now_us(), self._zone))

    async def tokens(self) -> schemas.Tokens:
        """List the tokens, revoked ones included, without their secrets."""
        return schemas.Tokens(items=[self._serializer.token(each) for each in await tokens.list_tokens(self._store)])

    async def create_token(
        self, *, new_id: NewId = random_id, **fields: Unpack[keywords.NewTokenRequestFields]
    ) -> schemas.CreatedToken:
        """Create a token. Its text is in the result and stored nowhere."""
        given = validate(schemas.NewTokenRequest, fields)
        made = await tokens.create_token(self._store, given.user, given.scope.value, new_id(0))
        return schemas.CreatedToken(**self._serializer.token_fields(made.record), token=made.text)

    async def revoke_token(self, number: int | str) -> schemas.Token:
        """Revoke a token for good; repeating it changes nothing."""
        token = _number(number, Rule("token_not_found", number=_shown(number)))
        return self._serializer.token(await tokens.revoke_token(self._store, token))

    async def settings(self) -> schemas.EngineSettings:
        """List the settings in force, with secrets masked."""
        values = self._app.settings.model_dump()
        values["database_url"] = absolute_url(values["database_url"])
        return schemas.EngineSettings(
            items=[
                schemas.Setting(
                    name=name,
                    value=shown(name, values[name]),
                    default=shown(name, field.default),
                    description=field.description or "",
                )
                for name, field in Settings.model_fields.items()
            ]
        )


def _waiting(queues: list[LateQueue]) -> list[overview.LateQueue]:
    return [
        overview.LateQueue(name=each.name, oldest_ready=each.waited_us / MICROS)
        for each in queues[: overview.LATE_MOST]
    ]


def _number(given: int | str, missing: Rule) -> int:
    """A number in a path; anything else names nothing."""
    number = number_of(given)
    if number is None:
        raise NotFound(missing)
    return number


def _shown(given: int | str) -> str:
    return repr(str(given)[:40])
