"""The event history, read once in the order of public ids: completeness of ids, changes of queues, and moves."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from hanbeon.domain.audit.findings import EngineInvariant, Finding, Invariant
from hanbeon.domain.audit.moves import MOVE, NO_ATTEMPT, REASON_NUMBERS, STATE_NUMBERS, id_bytes
from hanbeon.domain.audit.sweep import SlotChange
from hanbeon.domain.event_groups import EventGroup
from hanbeon.domain.events import QUEUE_CHANGED, Event

# Batches are pruned by the time they were written, which differs from commit order by as long as a commit takes. So the
# edge of a pruned history is ragged, and a hole this close to it counts as pruned.
_RAGGED_US = 60 * 1_000_000


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The extent of the remaining history. `last_id` is the counter: the last public id that was assigned."""

    now: int
    oldest_at: int | None
    first_id: int | None
    last_id: int

    @property
    def whole(self) -> bool:
        """True if nothing was pruned yet."""
        return self.last_id == 0 if self.first_id is None else self.first_id <= 1

    def covers(self, at: int) -> bool:
        """True if events of this instant or later must still exist: pruning takes the oldest first."""
        return self.whole or (self.oldest_at is not None and at > self.oldest_at)


class AuditedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Events written together; numbered from `first_id` on, or not yet numbered. No events or groups: unreadable."""

    seq: int
    at: int
    count: int
    first_id: int | None
    events: Sequence[Event] | None = None
    groups: Sequence[EventGroup] | None = None

    @property
    def queues(self) -> set[str]:
        """The queues whose events it holds."""
        return {each.queue for each in self.events or self.groups or ()}


class Numbering(msgspec.Struct):
    """How far a history was followed: all that the rest of it needs of what came before."""

    next_id: int | None
    at: int = 0
    events: int = 0
    changes: dict[str, list[SlotChange]] = msgspec.field(default_factory=dict)
    """The changes of each queue, in order."""


class History:
    """A pass over all events: `follow` the batches in order, then `finish`. Each move is handed on as a record."""

    def __init__(
        self,
        bounds: Bounds,
        hand_on: Callable[[bytes], None],
        *,
        queue: str | None = None,
        numbering: Numbering | None = None,
    ) -> None:
        """`queue`: follow the events of this one only. `numbering`: how far it was followed before."""
        self.bounds = bounds
        self.findings: list[Finding] = []
        self.numbering = numbering or Numbering(bounds.first_id)
        self._hand_on = hand_on
        self._queue = queue

    def follow(self, batch: AuditedBatch) -> None:
        """Take the next batch: the numbered ones by number, then the others in storage order."""
        if batch.first_id is not None:
            self._check_numbers(batch, batch.first_id)
        if batch.groups is not None:
            self._check_count(batch, sum(len(group.jobs) for group in batch.groups))
            number = batch.first_id
            for group in batch.groups:
                self._follow_group(group, batch.at, number or 0)
                number = None if number is None else number + len(group.jobs)
        elif batch.events is not None:
            self._check_count(batch, len(batch.events))
            for offset, event in enumerate(batch.events):
                if self._queue is None or event.queue == self._queue:
                    self.numbering.events += 1
                    self._follow(event, 0 if batch.first_id is None else batch.first_id + offset)
        else:
            self._find(EngineInvariant.READABLE_BATCH, f"{_name(batch)} cannot be read", rows=(_row(batch),))

    def finish(self) -> None:
        """Compare the last number with the counter."""
        last, counter = (self.numbering.next_id or 1) - 1, self.bounds.last_id
        if self.numbering.next_id is None:
            return
        if last < counter and not self._ragged():
            message = f"the events {last + 1} to {counter}, the latest, are missing"
            self._find(EngineInvariant.NO_END_MISSING, message)
        if last > counter:
            message = f"the counter is at {counter}, so {counter + 1} to {last} will be assigned again"
            self._find(EngineInvariant.COUNTER_AHEAD, message)

    def _check_numbers(self, batch: AuditedBatch, first_id: int) -> None:
        numbering = self.numbering
        expected = numbering.next_id if numbering.next_id is not None else first_id
        if first_id > expected and not self._ragged():
            message = f"the events {expected} to {first_id - 1} are missing before {_name(batch)}"
            self._find(EngineInvariant.NO_HOLE, message, rows=(_row(batch),))
        if first_id < expected:
            message = f"{_name(batch)} begins at {first_id}, but numbers up to {expected - 1} were assigned before it"
            self._find(EngineInvariant.ONE_BATCH_AN_ID, message, rows=(_row(batch),))
        numbering.next_id = max(expected, first_id + batch.count)
        numbering.at = max(numbering.at, batch.at)

    def _ragged(self) -> bool:
        bounds = self.bounds
        return not bounds.whole and bounds.oldest_at is not None and self.numbering.at <= bounds.oldest_at + _RAGGED_US

    def _check_count(self, batch: AuditedBatch, found: int) -> None:
        if found != batch.count:
            rule = EngineInvariant.FULL_BATCH if found < batch.count else EngineInvariant.ID_FOR_EACH
            self._find(rule, f"{_name(batch)} has numbers for {batch.count} events and holds {found}", (_row(batch),))

    def _follow_group(self, group: EventGroup, at: int, number: int) -> None:
        if self._queue is not None and group.queue != self._queue:
            return
        self.numbering.events += len(group.jobs)
        reason, state = REASON_NUMBERS[group.type.value], STATE_NUMBERS[group.state.value]
        pack, hand_on, step = MOVE.pack, self._hand_on, 1 if number else 0
        for job_id, attempt, _ in group.jobs:
            try:
                record = pack(id_bytes(job_id), at, number, attempt, reason, state)
            except (ValueError, struct.error):
                self._find_nameless(job_id, group.type.value, number)
            else:
                hand_on(record)
            number += step

    def _follow(self, event: Event, number: int) -> None:
        if event.job_id is None:
            if event.type == QUEUE_CHANGED:
                self._note_change(event, number)
            elif event.type in REASON_NUMBERS:
                self._find_nameless(None, event.type, number)
            return
        reason = REASON_NUMBERS.get(event.type)
        if reason is None or event.state is None:
            # An event that is not a move, of a kind that a later release may add, has no state.
            if event.state is not None or reason is not None:
                message = f"`{event.type}` is not a move of the lifecycle"
                self._find(EngineInvariant.KNOWN_MOVE, message, (_event(event, number),), event)
            return
        attempt = NO_ATTEMPT if event.attempt is None else event.attempt
        state = STATE_NUMBERS[event.state.value]
        try:
            record = MOVE.pack(id_bytes(event.job_id), event.at, number, attempt, reason, state)
        except (ValueError, struct.error):
            self._find_nameless(event.job_id, event.type, number)
        else:
            self._hand_on(record)

    def _note_change(self, event: Event, number: int) -> None:
        try:
            change = msgspec.convert({"at": event.at, **event.details}, SlotChange)
        except (msgspec.ValidationError, TypeError):
            message = f"the change of queue {event.queue!r} cannot be read"
            self._find(EngineInvariant.READABLE_CHANGE, message, (_event(event, number),), event)
            return
        self.numbering.changes.setdefault(event.queue, []).append(change)

    def _find_nameless(self, job_id: str | None, type: str, number: int) -> None:
        row = {"id": number, "type": type, "job_id": job_id}
        self._find(EngineInvariant.MOVE_OF_A_JOB, f"`{type}` names no job", (row,))

    def _find(
        self, rule: Invariant, message: str, rows: Iterable[dict[str, Any]] = (), event: Event | None = None
    ) -> None:
        queue, job_id = (None, None) if event is None else (event.queue, event.job_id)
        self.findings.append(rule.broken(message, job_id=job_id, queue=queue, rows=tuple(rows)))


def _name(batch: AuditedBatch) -> str:
    return f"event batch #{batch.seq}"


def _row(batch: AuditedBatch) -> dict[str, Any]:
    return {"seq": batch.seq, "at": batch.at, "count": batch.count, "first_id": batch.first_id}


def _event(event: Event, number: int) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(event, id=number))
    return row
