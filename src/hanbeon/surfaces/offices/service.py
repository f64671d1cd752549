"""Use cases of offices; `Offices` is what transports and Python callers use."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any, Unpack

import msgspec
from msgspec import UNSET

from hanbeon.domain.event_cursor import Cursor
from hanbeon.domain.lifecycle import State
from hanbeon.errors import Conflict
from hanbeon.events.broadcast import Broadcast
from hanbeon.events.follower import Follower
from hanbeon.rule import Rule
from hanbeon.store.batch_cancel import cancel_where
from hanbeon.store.operations.cancel import CancelFilter
from hanbeon.store.operations.tallies import stock
from hanbeon.store.tx import Tx
from hanbeon.surfaces.event_page import read_page
from hanbeon.surfaces.offices import keywords, schemas
from hanbeon.surfaces.offices import rows as offices
from hanbeon.surfaces.offices.config import BY_ROLE, in_force, merged
from hanbeon.surfaces.offices.events import event_source, serializer, translated
from hanbeon.surfaces.offices.jobs import OfficeJobs
from hanbeon.surfaces.offices.listener_rows import ListenerRecord, listeners_of
from hanbeon.surfaces.offices.queue import queue_of_office
from hanbeon.surfaces.offices.resolve import Handlers, merged_sessions
from hanbeon.surfaces.offices.roles import check_added_roles, check_new_roles
from hanbeon.surfaces.offices.rows import OfficeRecord
from hanbeon.surfaces.offices.simulation import OfficeSimulation
from hanbeon.surfaces.offices.vocabulary import status_of_state
from hanbeon.surfaces.offices.webhooks import OfficeWebhooks
from hanbeon.surfaces.service import NewId, random_id
from hanbeon.surfaces.validation import given_fields, or_default, validate

_ROUNDS = 5
_PROMOTED_AT_ONCE = 1_000


class Offices(OfficeJobs, OfficeSimulation, OfficeWebhooks):
    """The offices of one App."""

    async def create(self, *, new_id: NewId = random_id, **fields: Unpack[keywords.OfficeBodyFields]) -> schemas.Office:
        """Create an office, or return the one that an earlier request created with the same id."""
        request = validate(schemas.OfficeBody, fields)
        handlers = await self._handlers(_named(request))
        changes = or_default(request.config, None)
        config = {} if changes is None else merged({}, changes)
        office = _with(OfficeRecord(id=new_id(0), name="", config=config), request, handlers)
        check_new_roles(office, "sessions" if changes is None else f"config.{BY_ROLE}")
        limits = in_force(config).limits
        given = given_fields(request)
        await self._prepare_listeners(given)

        async def add(tx: Tx) -> schemas.Office:
            made = await offices.add_office(tx, office, limits)
            if made is not None:
                await self._put_listeners(tx, office.id, given)
            return (await self._shown(tx, [made or await offices.office_by_id(tx, office.id)]))[0]

        return await self._write(add)

    async def list(self, **fields: Unpack[keywords.OfficeQueryFields]) -> schemas.OfficePage:
        """List all offices."""
        query = validate(schemas.OfficeQuery, fields)

        async def read(tx: Tx) -> schemas.OfficePage:
            found = await offices.offices(tx, or_default(query.cursor, None), query.limit)
            cursor = found.cursor(lambda office: office.id)
            return schemas.OfficePage(items=await self._shown(tx, found.items), next_cursor=cursor)

        return await self._read(read)

    async def get(self, office_id: str) -> schemas.Office:
        """Return one office."""

        async def read(tx: Tx) -> schemas.Office:
            return (await self._shown(tx, [await offices.office_by_id(tx, office_id)]))[0]

        return await self._read(read)

    async def change(
        self, office_id: str, *, expected: int | None = None, **fields: Unpack[keywords.OfficeChangeFields]
    ) -> schemas.Office:
        """Change fields of an office. Config and sessions are merged, notifications and webhooks replaced.

        Jobs that wait without a handler get the one that the sessions name now. `expected` is the version last seen.
        """
        request = validate(schemas.OfficeChange, fields)
        given = given_fields(request)
        handlers = await self._handlers(_named(request))
        await self._prepare_listeners(given)
        gone: list[ListenerRecord] = []

        async def change(tx: Tx) -> schemas.Office:
            office = await offices.lock_office(tx, office_id, expected)
            changed = _with(office, request, handlers)
            limits = None
            if request.config is not UNSET:
                changed = msgspec.structs.replace(changed, config=merged(office.config, request.config))
                limits = in_force(changed.config).limits
            await check_added_roles(tx, office, changed, "sessions" if limits is None else f"config.{BY_ROLE}")
            after = await offices.change_office(tx, changed, limits)
            gone[:] = await self._put_listeners(tx, office_id, given)
            if "sessions" in given:
                await self._hand_over(tx, after, handlers)
            return (await self._shown(tx, [after]))[0]

        changed = await self._moving(office_id, change)
        await self._cancel_deliveries(gone)
        return changed

    async def delete(self, office_id: str, **fields: Unpack[keywords.OfficeDeletionFields]) -> None:
        """Delete an office without unfinished jobs; `cancel`: cancel them first, and stop the running ones.

        Its finished jobs can no longer be reached through it. Retention prunes them like all others.
        """
        cancel = validate(schemas.OfficeDeletion, fields).cancel
        await self._record(office_id)
        listeners = await self._read(lambda tx: listeners_of(tx, [office_id]))
        for _ in range(_ROUNDS):
            if cancel:
                await cancel_where(self._store, CancelFilter(queue=queue_of_office(office_id)))
            try:
                await self._write(lambda tx: offices.delete_office(tx, office_id, stopping=cancel))
                return await self._cancel_deliveries(listeners.get(office_id, []))
            except Conflict:
                if not cancel:
                    raise
        raise Conflict(Rule("office_outruns_cancel", office=office_id))

    # The scheduler of an office

    async def config(self, office_id: str) -> schemas.VersionedConfig:
        """Return the settings in force."""
        return _config(await self._record(office_id))

    async def change_config(
        self, office_id: str, *, expected: int | None = None, **fields: Unpack[keywords.ConfigChangeFields]
    ) -> schemas.VersionedConfig:
        """Merge changes into the config. New limits are in force at the next claim, on every instance."""
        changes = validate(schemas.ConfigChange, fields)

        async def change(tx: Tx) -> OfficeRecord:
            office = await offices.lock_office(tx, office_id, expected)
            after = msgspec.structs.replace(office, config=merged(office.config, changes))
            await check_added_roles(tx, office, after, BY_ROLE)
            return await offices.change_office(tx, after, in_force(after.config).limits)

        return _config(await self._write(change))

    async def stats(self, office_id: str) -> schemas.JobQueueStats:
        """Count the jobs by status, exactly; as cheap with ten million jobs as with ten."""
        office = await self._record(office_id)
        counted = await self._store.read(lambda tx: stock(tx, office.queue, self._store.unfolded))
        done = counted.count(State.SUCCEEDED)
        counts = {status_of_state(state).value: counted.count(state) for state in State}
        mean = round(counted.ran / done / 1_000, 3) if done else 0
        return schemas.JobQueueStats(office_id=office.id, avg_completion_time=mean, **counts)

    async def process(self, office_id: str) -> schemas.Processed:
        """Run one scheduling cycle now, here if this process has a worker; otherwise wake all workers."""
        office = await self._record(office_id)
        store = self._store
        activated = await self._write(
            lambda tx: offices.promote_queue(tx, store.lanes, office.queue, _PROMOTED_AT_ONCE)
        )
        started = 0
        if self.worker is not None:
            started = await self.worker.start_now(office.queue)
        else:
            store.notifier.send(("work", "later"))
        running = (await store.read(lambda tx: stock(tx, office.queue, store.unfolded))).count(State.RUNNING)
        slots = max(0, in_force(office.config).maxConcurrentJobs - running)
        return schemas.Processed(activated=activated, started=started, available_slots=slots)

    # Events

    async def events(self, office_id: str, *, after: Cursor = 0) -> schemas.EventPage:
        """Return the next events after the one with this id; resume with the page's `after` or `cursor`."""
        await self._record(office_id)
        return await read_page(self._feed, event_source(office_id, self._zone), after, schemas.EventPage)

    async def following(
        self, broadcast: Broadcast, office_id: str, *, after: Cursor = 0
    ) -> contextlib.AbstractContextManager[Follower]:
        """Subscribe to the events after this one. However many subscribers there are, events are read once."""
        await self._record(office_id)
        position = await self._feed.position(after)
        return broadcast.following(queue_of_office(office_id), serializer(office_id, self._zone), position)

    async def follow(self, office_id: str, *, after: Cursor = 0) -> AsyncIterator[schemas.SchedulerEvent]:
        """Like `following`, for a single subscriber. Raises EventsMissed if events after `after` are gone."""
        await self._record(office_id)
        position = (await self._feed.position(after)).without_gap()
        async for event in self._feed.follow(position.after, queue_of_office(office_id)):
            found = translated(event, office_id, self._zone)
            if found is not None:
                yield found


def _named(request: schemas.OfficeBody | schemas.OfficeChange) -> set[str]:
    """The tasks that the sessions of a request name."""
    sessions = or_default(request.sessions, {})
    return {task for task in sessions.values() if task is not None}


def _with(office: OfficeRecord, request: schemas.OfficeBody | schemas.OfficeChange, handlers: Handlers) -> OfficeRecord:
    """The office with the name and the sessions of the request; null removes all sessions."""
    changes: dict[str, Any] = {"name": or_default(request.name, office.name)}
    if request.sessions is None:
        changes["sessions"] = {}
    elif request.sessions is not UNSET:
        changes["sessions"] = merged_sessions(office.sessions, request.sessions, handlers)
    return msgspec.structs.replace(office, **changes)


def _config(office: OfficeRecord) -> schemas.VersionedConfig:
    return schemas.VersionedConfig(config=in_force(office.config), version=office.version)
