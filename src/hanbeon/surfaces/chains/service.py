"""`app.chains`: chains, their runs, and the way on for one that is blocked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Unpack

from hanbeon.domain.event_cursor import Cursor as EventCursor
from hanbeon.domain.explain import ExplanationCode
from hanbeon.events.broadcast import Broadcast
from hanbeon.events.follower import Follower
from hanbeon.service.explain import explain_job
from hanbeon.surfaces.chains import keywords, rows, schemas, walker
from hanbeon.surfaces.chains.errors import ChainNotFound, ChainRunNotFound
from hanbeon.surfaces.chains.events import event_source, serializer, translated
from hanbeon.surfaces.chains.job import ChainJob
from hanbeon.surfaces.chains.requests import JobPlan, check_jobs, fields_of
from hanbeon.surfaces.chains.rows import NewChain, WholeChain
from hanbeon.surfaces.chains.serializers import Serializer
from hanbeon.surfaces.chains.settings import libraries_of
from hanbeon.surfaces.chains.steps import QUEUE
from hanbeon.surfaces.chains.vocabulary import UNINIT, ChainState, OnBackwardFailure, OnUnknown, status_of
from hanbeon.surfaces.event_page import read_page
from hanbeon.surfaces.job_view import explanation_view
from hanbeon.surfaces.numbers import number_of
from hanbeon.surfaces.schema import Explanation
from hanbeon.surfaces.service import LOCAL, NewId, Service, random_id
from hanbeon.surfaces.validation import given_fields, inside, validate
from hanbeon.wait import until

_PAGE_SIZE = 100

AnyChain = schemas.Chain | int | str
"""A chain, or its number."""


class Chains(Service):
    """Chains of one App. The App must be open."""

    async def create(
        self, *, by: str = LOCAL, new_id: NewId = random_id, **fields: Unpack[keywords.NewChainFields]
    ) -> schemas.Chain:
        """Create a chain, perhaps with its jobs: `create(queue_library="shop.operations", jobs=[…])`."""
        given: dict[str, Any] = dict(fields)
        if "jobs" in given:
            given["jobs"] = check_jobs(given["jobs"])
        found = given_fields(validate(schemas.NewChain, given))
        plan = self._plan
        library = plan.library(found.get("queue_library", UNINIT), "queue_library")
        new = NewChain(
            uid=new_id(0),
            queue_library=library,
            retries=found.get("retries", 0),
            on_unknown=found.get("on_unknown", OnUnknown.RETRY),
            on_backward_failure=found.get("on_backward_failure", OnBackwardFailure.CONTINUE),
            created_by=by,
        )
        jobs = []
        for number, job in enumerate(found.get("jobs", ())):
            with inside(f"jobs[{number}]"):
                jobs.append(plan.job(job, new_id(number + 1), library))
        await plan.check_operations(jobs)
        return self._view(await self._write(lambda tx: rows.add_chain(tx, new, jobs)))

    async def enqueue(
        self,
        chain: AnyChain,
        job: ChainJob | None = None,
        *,
        new_id: NewId = random_id,
        **fields: Unpack[keywords.NewChainJobFields],
    ) -> schemas.ChainJob:
        """Append a job to a chain that is EMPTY or READY: as an object, or by its fields."""
        queue_id = _id(chain)
        given: dict[str, Any] = {**(fields_of(job) or {}), **fields}
        request = validate(schemas.NewChainJob, given)
        record = await self._read(lambda tx: rows.chain_by_id(tx, queue_id))
        plan = self._plan
        new = plan.job(request, new_id(0), record.queue_library)
        await plan.check_operations([new], prefix="")
        jobs = await self._write(lambda tx: rows.add_jobs(tx, queue_id, [new]))
        shown = self._serializer.jobs(jobs)
        return next(view for view, each in zip(shown, jobs, strict=True) if each.uid == new.uid)

    async def get(self, chain: AnyChain) -> schemas.Chain:
        """The chain as it is now."""
        queue_id = _id(chain)
        return self._view(await self._read(lambda tx: rows.whole_chain(tx, queue_id)))

    async def list(self, **query: Unpack[keywords.ChainQueryFields]) -> schemas.ChainPage:
        """Chains in the order of their creation; continue with the page's `next_cursor`."""
        filter = given_fields(validate(schemas.ChainQuery, query))
        size, after = filter.get("limit", _PAGE_SIZE), int(filter.get("cursor") or 0)
        found = await self._read(lambda tx: rows.chains(tx, after, size, filter.get("state")))
        next_cursor = found.cursor(lambda each: each.chain.id)
        return schemas.ChainPage(items=[self._view(each) for each in found.items], next_cursor=next_cursor)

    async def delete(self, chain: AnyChain) -> None:
        """Delete a chain that is not running, with its history."""
        queue_id = _id(chain)
        await self._write(lambda tx: rows.delete_chain(tx, queue_id))

    # Runs

    async def run(
        self,
        chain: AnyChain,
        *,
        wait: float | None = None,
        context: Mapping[str, Any] | None = None,
        by: str = LOCAL,
        new_id: NewId = random_id,
    ) -> schemas.Chain:
        """Run a READY chain; with `wait`, return once it has ended or is BLOCKED, or after so many seconds."""
        queue_id = _id(chain)
        seconds = _seconds(wait)
        given = validate(schemas.NewRun, {} if context is None else {"context": dict(context)})
        first = self._plan.context(given_fields(given).get("context", {}))
        lanes, uid = self._store.lanes, new_id(0)
        found = await self._write(lambda tx: walker.begin_run(tx, lanes, queue_id, uid, by, first))
        return await self._until_ended(found, seconds)

    async def resume(self, chain: AnyChain, *, wait: float | None = None) -> schemas.Chain:
        """Run the backward operation again that blocked the chain."""
        return await self._move(chain, wait, walker.resume)

    async def skip(self, chain: AnyChain, *, wait: float | None = None) -> schemas.Chain:
        """Leave the blocked job as failed, and go on with those before it."""
        return await self._move(chain, wait, walker.skip)

    async def abort(self, chain: AnyChain, *, wait: float | None = None) -> schemas.Chain:
        """Stop the forward operation under way; then the walk goes backward."""
        return await self._move(chain, wait, walker.abort)

    async def _move(self, chain: AnyChain, wait: float | None, move: Callable[..., Any]) -> schemas.Chain:
        queue_id, seconds, lanes = _id(chain), _seconds(wait), self._store.lanes
        found = await self._write(lambda tx: move(tx, lanes, queue_id))
        return await self._until_ended(found, seconds)

    async def runs(self, chain: AnyChain, **query: Unpack[keywords.RunQueryFields]) -> schemas.RunPage:
        """Past runs and the present one, newest first; continue with the page's `next_cursor`."""
        queue_id = _id(chain)
        filter = given_fields(validate(schemas.RunQuery, query))
        size, cursor = filter.get("limit", _PAGE_SIZE), filter.get("cursor")
        before = int(cursor) if cursor else None
        found = await self._read(lambda tx: rows.runs(tx, queue_id, before, size))
        items = [self._serializer.run(each) for each in found.items]
        return schemas.RunPage(items=items, next_cursor=found.cursor(lambda each: each.run.n))

    async def run_of(self, chain: AnyChain, n: int | str) -> schemas.Run:
        """One run of a chain, by its number."""
        queue_id = _id(chain)
        number = number_of(n)
        if number is None:
            raise ChainRunNotFound(queue_id, n)
        return self._serializer.run(await self._read(lambda tx: rows.run_of(tx, queue_id, number)))

    async def explain(self, chain: AnyChain) -> Explanation:
        """Explain why a chain does not move: not run, blocked, or what the job of its step waits for."""
        queue_id = _id(chain)
        record = await self._read(lambda tx: rows.chain_by_id(tx, queue_id))
        if record.step_job is not None:
            found = await explain_job(self._store, record.step_job, self._alive_within_us)
            return explanation_view(found, self._zone, status_of)
        code, text = _RESTING[record.state]
        return Explanation(runnable=False, reasons=[{"code": code, "text": text}])

    # Events

    async def events(self, chain: AnyChain, *, after: EventCursor = 0) -> schemas.ChainEventPage:
        """Return the next events after the one with this id; resume with the page's `after` or `cursor`."""
        queue_id = await self._checked(chain)
        return await read_page(self._feed, event_source(queue_id, self._zone), after, schemas.ChainEventPage)

    async def following(
        self, broadcast: Broadcast, chain: AnyChain, *, after: EventCursor = 0
    ) -> contextlib.AbstractContextManager[Follower]:
        """Subscribe to the events after this one. However many subscribers there are, events are read once."""
        queue_id = await self._checked(chain)
        return broadcast.following(QUEUE, serializer(queue_id, self._zone), await self._feed.position(after), queue_id)

    async def follow(self, chain: AnyChain, *, after: EventCursor = 0) -> AsyncIterator[schemas.ChainEvent]:
        """Like `following`, for a single subscriber. Raises EventsMissed if events after `after` are gone."""
        queue_id = await self._checked(chain)
        position = (await self._feed.position(after)).without_gap()
        async for event in self._feed.follow(position.after, QUEUE):
            found = translated(event, queue_id, self._zone)
            if found is not None:
                yield found

    # Shared helpers

    @property
    def _serializer(self) -> Serializer:
        return Serializer(self._zone)

    @property
    def _plan(self) -> JobPlan:
        settings = self._app.settings
        return JobPlan(libraries_of(settings), settings.max_payload_bytes)

    def _view(self, found: WholeChain) -> schemas.Chain:
        return self._serializer.chain(found)

    async def _checked(self, chain: AnyChain) -> int:
        queue_id = _id(chain)
        await self._read(lambda tx: rows.chain_by_id(tx, queue_id))
        return queue_id

    async def _until_ended(self, found: WholeChain, seconds: float) -> schemas.Chain:
        """Wait for the end of this run, within the time."""
        queue_id, run = found.chain.id, found.chain.run

        async def read() -> WholeChain:
            nonlocal found
            found = await self._read(lambda tx: rows.whole_chain(tx, queue_id))
            return found

        def ended(seen: WholeChain) -> bool:
            return seen.chain.state is not ChainState.RUNNING or seen.chain.run != run

        if not ended(found):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await until(read, ended, self._app.hub.hints)
        return self._view(found)


_RESTING = {
    ChainState.EMPTY: (ExplanationCode.CHAIN_EMPTY, "It has no jobs; enqueue some, then run it."),
    ChainState.READY: (ExplanationCode.CHAIN_NOT_RUN, "It is not running; run it."),
    ChainState.BLOCKED: (
        ExplanationCode.CHAIN_BLOCKED,
        "A backward operation failed, and the chain stops there; resume tries it again, skip goes on without it.",
    ),
}


def _id(chain: AnyChain) -> int:
    number = chain.queue_id if isinstance(chain, schemas.Chain) else number_of(chain)
    if number is None:
        raise ChainNotFound(chain)
    return number


def _seconds(wait: float | None) -> float:
    found: float = given_fields(validate(schemas.WaitQuery, {} if wait is None else {"wait": wait})).get("wait", 0.0)
    return found
