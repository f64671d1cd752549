"""Events become messages to those who listen: each once, however many instances relay and whenever one dies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from hanbeon.domain.events import Event
from hanbeon.domain.job import NewJob
from hanbeon.domain.offices import office_of_queue
from hanbeon.store.operations.enqueue import check_batch, enqueue
from hanbeon.store.operations.events import events_after
from hanbeon.store.operations.lanes import LaneCache, LaneNumbers, add_lanes
from hanbeon.store.operations.listeners import ListenerRecord, listeners_of
from hanbeon.store.tx import Tx

_BATCHES = 20

Listeners = Mapping[str, Sequence[ListenerRecord]]
MakeJobs = Callable[[Tx, Sequence[Event], Listeners], Awaitable[list[NewJob]]]
"""What is to be sent of these events to the listeners of their offices."""


class RelayState(NamedTuple):
    """Whether anybody listens, and whether there is anything to relay."""

    listening: bool
    behind: bool


class Relayed(NamedTuple):
    """What one step did: how many messages it made, with which new lanes; `more`: there is more to relay."""

    jobs: int
    lanes: LaneNumbers
    more: bool


async def relay_state(tx: Tx) -> RelayState:
    row = (await tx.fetch("relay_state"))[0]
    listening = row["since"] is not None
    last = max(row["relayed_to"], row["since"] or 0)
    return RelayState(listening, listening and (row["unnumbered"] is not None or row["last_id"] > last))


async def relay(tx: Tx, book: LaneCache, make: MakeJobs, at_once: int) -> Relayed:
    """Make the messages of the next events, up to `at_once` events, and note how far that is: both or neither.

    The row that says how far is locked from here to the commit. While another holds it there is nothing to do.
    """
    locked = await tx.fetch("lock_relay")
    since = (await tx.fetch("first_since"))[0]["since"]
    if not locked or since is None:
        return Relayed(0, [], False)
    # Nobody who listens was there before: what happened while nobody listened is not even read.
    found = await events_after(tx, max(locked[0]["relayed_to"], since), _BATCHES)
    events = found[:at_once]
    if not events:
        return Relayed(0, [], False)
    offices = {office for event in events if (office := office_of_queue(event.queue)) is not None}
    listeners = await listeners_of(tx, offices)
    jobs = await make(tx, events, listeners) if listeners else []
    lanes: LaneNumbers = []
    if jobs:
        check_batch(jobs)
        missing = book.missing(job.lane for job in jobs)
        lanes = await add_lanes(tx, missing) if missing else []
        await enqueue(tx, book.with_lanes(lanes), jobs)
        tx.wake("outgoing")
    await tx.fetch("advance_relay", events[-1].id)
    return Relayed(len(jobs), lanes, True)
