"""Offices, as a transport asks for them: every method is one use case, and what it refuses is a HanbeonError."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import uuid_utils

from hanbeon.domain.job import is_id
from hanbeon.domain.lifecycle import State
from hanbeon.domain.offices import queue_of_office
from hanbeon.engine.worker import Worker
from hanbeon.errors import Conflict, InvalidInput
from hanbeon.events.broadcast import Broadcast
from hanbeon.events.follower import Follower
from hanbeon.store.operations import offices
from hanbeon.store.operations.cancel import CancelFilter
from hanbeon.store.operations.lanes import LaneNumbers
from hanbeon.store.operations.listeners import ListenerRecord, listeners_of
from hanbeon.store.operations.offices import OfficeRecord
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices import body, schemas
from hanbeon.surfaces.offices.base import OfficeApp
from hanbeon.surfaces.offices.config import in_force, merged
from hanbeon.surfaces.offices.events import read_page, translated, words
from hanbeon.surfaces.offices.jobs import OfficeJobs
from hanbeon.surfaces.offices.resolve import Handlers
from hanbeon.surfaces.offices.vocabulary import status_of_state
from hanbeon.surfaces.offices.webhooks import OfficeWebhooks
from hanbeon.surfaces.validation import page_size, table, text, whole

_ROUNDS = 5
_PROMOTED_AT_ONCE = 1_000
_LAST_EVENT = 2**63 - 1


class Offices(OfficeJobs, OfficeWebhooks):
    """The offices of one App. `worker`: one of this process, if it has one, for cycles that are to happen now."""

    def __init__(self, app: OfficeApp, worker: Worker | None = None) -> None:
        super().__init__(app)
        self.worker = worker

    # Offices

    async def create(self, told: Any, *, office_id: str | None = None) -> schemas.Office:
        """Make an office: `{name, config?, sessions?, notifications?, webhooks?}`; or find the one with that id."""
        given = table(told, "an office", body.CREATED_WITH)
        if "name" not in given:
            raise InvalidInput("it is missing; give the office a name", field="name")
        handlers = await self._handlers(_named(given.get("sessions")))
        config = {} if given.get("config") is None else merged({}, given["config"])
        blank = OfficeRecord(id=office_id or str(uuid_utils.uuid7()), name="", config=config)
        office = _with(blank, given, handlers)
        limits = in_force(config).limits
        await self._prepare_listeners(given)

        async def add(tx: Tx) -> schemas.Office:
            made = await offices.add_office(tx, office, limits)
            if made is not None:
                await self._put_listeners(tx, office.id, given)
            return (await self._shown(tx, [made or await offices.office_by_id(tx, office.id)]))[0]

        return await self._store.write(add)

    async def list(self, *, cursor: str | None = None, limit: int = 100) -> schemas.OfficePage:
        """A page of all offices; go on with its `next_cursor`."""
        if cursor is not None and not is_id(cursor):
            raise InvalidInput("it is no cursor; pass on the next_cursor of a page", field="cursor")
        size = page_size(limit)

        async def page(tx: Tx) -> schemas.OfficePage:
            found = await offices.offices(tx, cursor, size + 1)
            after = found[size - 1].id if len(found) > size else None
            return schemas.OfficePage(items=await self._shown(tx, found[:size]), next_cursor=after)

        return await self._store.read(page)

    async def get(self, office_id: str) -> schemas.Office:
        async def look(tx: Tx) -> schemas.Office:
            return (await self._shown(tx, [await offices.office_by_id(tx, office_id)]))[0]

        return await self._store.read(look)

    async def change(self, office_id: str, told: Any, *, expected: int | None = None) -> schemas.Office:
        """Change name, sessions, notifications or webhooks. Sessions are merged, the others replaced.

        Jobs that wait without a handler get the one that the sessions name now. `expected` is the version last seen.
        """
        given = table(told, "an office", body.CHANGED_WITH)
        handlers = await self._handlers(_named(given.get("sessions")))
        made: LaneNumbers = []
        await self._prepare_listeners(given)
        gone: list[ListenerRecord] = []

        async def change(tx: Tx) -> schemas.Office:
            office = await offices.lock_office(tx, office_id, expected)
            after = await offices.change_office(tx, _with(office, given, handlers))
            gone[:] = await self._put_listeners(tx, office_id, given)
            if "sessions" in given:
                made[:] = await self._hand_over(tx, after, handlers)
            return (await self._shown(tx, [after]))[0]

        changed = await self._moving(office_id, change, made)
        await self._cancel_deliveries(gone)
        return changed

    async def delete(self, office_id: str, *, cancel: bool = False) -> None:
        """Remove an office that has nothing unfinished; `cancel`: cancel that first, and tell what runs to stop.

        Its finished jobs can no longer be reached through it. Retention prunes them like all others.
        """
        await self._record(office_id)
        told = await self._store.read(lambda tx: listeners_of(tx, [office_id]))
        for _ in range(_ROUNDS):
            if cancel:
                await self._store.cancel_where(CancelFilter(queue=queue_of_office(office_id)))
            try:
                await self._store.write(lambda tx: offices.delete_office(tx, office_id, stopping=cancel))
                return await self._cancel_deliveries(told.get(office_id, []))
            except Conflict:
                if not cancel:
                    raise
        raise Conflict(f"jobs are made in office {office_id} faster than they can be cancelled; try again")

    # The scheduler of an office

    async def config(self, office_id: str) -> schemas.VersionedConfig:
        return _config(await self._record(office_id))

    async def change_config(self, office_id: str, told: Any, *, expected: int | None = None) -> schemas.VersionedConfig:
        """Merge changes into the config. New limits are in force at the next claim, on every instance."""

        async def change(tx: Tx) -> OfficeRecord:
            office = await offices.lock_office(tx, office_id, expected)
            after = msgspec.structs.replace(office, config=merged(office.config, told))
            return await offices.change_office(tx, after, in_force(after.config).limits)

        return _config(await self._store.write(change))

    async def stats(self, office_id: str) -> schemas.JobQueueStats:
        """How many jobs are where, exact at this moment; as cheap with ten million jobs as with ten."""
        office = await self._record(office_id)
        stock = await self._store.stock(office.queue)
        done = stock.count(State.SUCCEEDED)
        counts = {status_of_state(state).value: stock.count(state) for state in State}
        mean = round(stock.ran / done / 1_000, 3) if done else 0
        return schemas.JobQueueStats(office_id=office.id, avg_completion_time=mean, **counts)

    async def process(self, office_id: str) -> schemas.Processed:
        """One scheduling cycle now, here if there is a worker; otherwise all workers are woken."""
        office = await self._record(office_id)
        store = self._store
        activated = await store.write(lambda tx: offices.promote_queue(tx, store.book, office.queue, _PROMOTED_AT_ONCE))
        started = 0
        if self.worker is not None:
            started = await self.worker.start_now(office.queue)
        else:
            store.notifier.send(("work", "later"))
        running = (await store.stock(office.queue)).count(State.RUNNING)
        slots = max(0, in_force(office.config).maxConcurrentJobs - running)
        return schemas.Processed(activated=activated, started=started, available_slots=slots)

    # Events

    async def events(self, office_id: str, after: int = 0) -> schemas.EventPage:
        """What happened in the office behind an event's id; go on behind the page's `after`."""
        await self._record(office_id)
        whole(after, "after", 0, _LAST_EVENT)
        return await read_page(self._feed, office_id, after, self._zone)

    async def following(
        self, broadcast: Broadcast, office_id: str, after: int = 0
    ) -> contextlib.AbstractContextManager[Follower]:
        """The same, for ever, beside others who follow: however many they are, the events are read once."""
        await self._record(office_id)
        whole(after, "after", 0, _LAST_EVENT)
        return broadcast.following(queue_of_office(office_id), words(office_id, self._zone), after)

    async def follow(self, office_id: str, after: int = 0) -> AsyncIterator[schemas.SchedulerEvent]:
        """The same, for ever, alone."""
        await self._record(office_id)
        whole(after, "after", 0, _LAST_EVENT)
        async for event in self._feed.follow(after, queue_of_office(office_id)):
            told = translated(event, office_id, self._zone)
            if told is not None:
                yield told


def _named(sessions: Any) -> set[str]:
    """The tasks that sessions speak of, before anybody has checked them."""
    return {task for task in sessions.values() if isinstance(task, str)} if isinstance(sessions, dict) else set()


def _with(office: OfficeRecord, given: dict[str, Any], handlers: Handlers) -> OfficeRecord:
    """The office as it is to be; null takes away all that there was."""
    changes: dict[str, Any] = {}
    if "name" in given:
        changes["name"] = text(given["name"], "name")
    if "sessions" in given:
        told = given["sessions"]
        changes["sessions"] = {} if told is None else body.sessions(office.sessions, told, handlers.check)
    return msgspec.structs.replace(office, **changes)


def _config(office: OfficeRecord) -> schemas.VersionedConfig:
    return schemas.VersionedConfig(config=in_force(office.config), version=office.version)
