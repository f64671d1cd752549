"""Relay of events as messages to listeners: each exactly once, by every worker, a bounded number at a time."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from hanbeon.clock import Clock
from hanbeon.domain.events import Event
from hanbeon.domain.job import NewJob
from hanbeon.engine.loop import AGAIN
from hanbeon.settings import Settings
from hanbeon.store.operations.enqueue import check_batch, enqueue
from hanbeon.store.operations.events import events_after
from hanbeon.store.operations.lanes import LaneCache, LaneNumbers
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices.delivery.messages import MessageBuilder
from hanbeon.surfaces.offices.listener_rows import ListenerRecord, listeners_of
from hanbeon.surfaces.offices.queue import office_of_queue

_BATCHES = 20

Listeners = Mapping[str, Sequence[ListenerRecord]]
MakeJobs = Callable[[Tx, Sequence[Event], Listeners], Awaitable[list[NewJob]]]
"""Builds the messages about these events for the listeners of their offices."""


class RelayState(NamedTuple):
    """`listening`: there are listeners; `behind`: there are events to relay."""

    listening: bool
    behind: bool


class Relayed(NamedTuple):
    """The result of a step: the number of messages created; `more`: there is more to relay. `lanes` is always empty."""

    jobs: int
    lanes: LaneNumbers
    more: bool


async def relay_state(tx: Tx) -> RelayState:
    row = (await tx.fetch("relay_state"))[0]
    listening = row["since"] is not None
    last = max(row["relayed_to"], row["since"] or 0)
    return RelayState(listening, listening and (row["unnumbered"] is not None or row["last_id"] > last))


async def relay(tx: Tx, lanes: LaneCache, make: MakeJobs, at_once: int) -> Relayed:
    """Create the messages of the next events, up to `at_once` events, and advance the position: both or neither.

    The row with the position is locked until the commit. While another transaction holds it there is nothing to do.
    """
    locked = await tx.fetch("lock_relay")
    since = (await tx.fetch("first_since"))[0]["since"]
    if not locked or since is None:
        return Relayed(0, [], False)
    # No listener is older than this: events from before it are not even read.
    found = await events_after(tx, max(locked[0]["relayed_to"], since), _BATCHES)
    events = found[:at_once]
    if not events:
        return Relayed(0, [], False)
    offices = {office for event in events if (office := office_of_queue(event.queue)) is not None}
    listeners = await listeners_of(tx, offices)
    jobs = await make(tx, events, listeners) if listeners else []
    if jobs:
        check_batch(jobs)
        await enqueue(tx, await lanes.ensure(tx, (job.lane for job in jobs)), jobs)
        tx.wake("outgoing")
    await tx.fetch("advance_relay", events[-1].id)
    return Relayed(len(jobs), [], True)


_EVENTS_AT_ONCE = 1_000
_QUIET_POLLS = 6


class Relay:
    """Relays events to listeners. While there are none, it only checks from time to time if there are any."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._make = MessageBuilder(settings)
        self._look_at = -math.inf
        self.listening = False

    def look_again(self) -> None:
        """Wake up: there may be a new listener."""
        self._look_at = -math.inf

    @property
    def quiet_seconds(self) -> float:
        """Time between two checks without listeners: the notification of a new one may have been lost."""
        return self._settings.poll * _QUIET_POLLS

    async def run_once(self) -> float:
        now = self._clock.monotonic()
        if not self.listening and now < self._look_at:
            return self._look_at - now
        self._look_at = now + self.quiet_seconds
        state = await self._store.read(relay_state)
        self.listening = state.listening
        if not state.listening:
            return self.quiet_seconds
        if not state.behind:
            return self._settings.poll
        await self._store.number_events()
        relayed = await self._store.write(
            lambda tx: relay(tx, self._store.lanes, self._make, _EVENTS_AT_ONCE), _EVENTS_AT_ONCE
        )
        return AGAIN if relayed.more else self._settings.poll
