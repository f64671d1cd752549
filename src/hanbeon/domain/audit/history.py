"""The event history, read once in the order of public ids: completeness of the ids and legality of every move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from hanbeon.domain.audit.findings import Code, Finding
from hanbeon.domain.audit.sweep import SlotChange
from hanbeon.domain.events import QUEUE_CHANGED, Event
from hanbeon.domain.lifecycle import LIFECYCLE, TERMINAL, Reason, State, is_legal

CREATIONS = frozenset(reason for reason, move in LIFECYCLE.items() if not move.sources)
ENDINGS = frozenset(reason for reason, move in LIFECYCLE.items() if State.RUNNING in move.sources and move.target)
_REASONS = {reason.value: reason for reason in Reason}
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
    """Events written together; numbered from `first_id` on, or not yet numbered. No events: unreadable."""

    seq: int
    at: int
    count: int
    first_id: int | None
    events: Sequence[Event] | None


class Trace(msgspec.Struct, kw_only=True):
    """The history of one job, small enough to be kept for all jobs at once."""

    state: State
    created: bool
    first_at: int
    claims: list[int] = msgspec.field(default_factory=list)
    ends: list[int] = msgspec.field(default_factory=list)
    dispatches: dict[int, int] = msgspec.field(default_factory=dict)
    """When each attempt was sent to stream workers: it takes its slot from then on."""


class History:
    """The state of a pass over all events: `follow` the batches in order, then `finish`."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.traces: dict[str, Trace] = {}
        self.changes: dict[str, list[SlotChange]] = {}
        self.findings: list[Finding] = []
        self.events = 0
        self._next_id = bounds.first_id
        self._at = 0

    def follow(self, batch: AuditedBatch) -> None:
        """Take the next batch: the numbered ones by number, then the others in storage order."""
        if batch.first_id is not None:
            self._check_numbers(batch, batch.first_id)
        if batch.events is None:
            self._find(Code.EVENT_GAP, f"{_name(batch)} cannot be read", rows=(_row(batch),))
            return
        self._check_count(batch, len(batch.events))
        for offset, event in enumerate(batch.events):
            self.events += 1
            self._follow(event, 0 if batch.first_id is None else batch.first_id + offset)

    def finish(self) -> None:
        """Compare the last number with the counter."""
        last, counter = (self._next_id or 1) - 1, self.bounds.last_id
        if self._next_id is None:
            return
        if last < counter and not self._ragged():
            self._find(Code.EVENT_GAP, f"the events {last + 1} to {counter}, the latest, are missing")
        if last > counter:
            self._find(
                Code.DOUBLED_EVENT, f"the counter is at {counter}, so {counter + 1} to {last} will be assigned again"
            )

    def _check_numbers(self, batch: AuditedBatch, first_id: int) -> None:
        expected = self._next_id if self._next_id is not None else first_id
        if first_id > expected and not self._ragged():
            message = f"the events {expected} to {first_id - 1} are missing before {_name(batch)}"
            self._find(Code.EVENT_GAP, message, rows=(_row(batch),))
        if first_id < expected:
            message = f"{_name(batch)} begins at {first_id}, but numbers up to {expected - 1} were assigned before it"
            self._find(Code.DOUBLED_EVENT, message, rows=(_row(batch),))
        self._next_id = max(expected, first_id + batch.count)
        self._at = max(self._at, batch.at)

    def _ragged(self) -> bool:
        bounds = self.bounds
        return not bounds.whole and bounds.oldest_at is not None and self._at <= bounds.oldest_at + _RAGGED_US

    def _check_count(self, batch: AuditedBatch, found: int) -> None:
        if found != batch.count:
            self._find(
                Code.EVENT_GAP if found < batch.count else Code.DOUBLED_EVENT,
                f"{_name(batch)} has numbers for {batch.count} events and holds {found}",
                rows=(_row(batch),),
            )

    def _follow(self, event: Event, number: int) -> None:
        if event.job_id is None:
            if event.type == QUEUE_CHANGED:
                self._note_change(event, number)
            return
        reason = _REASONS.get(event.type)
        if reason is None or event.state is None:
            # An event that is not a move, of a kind that a later release may add, has no state.
            if event.state is not None or reason is not None:
                self._find_illegal(event, number, "is not a move of the lifecycle")
            return
        trace = self._move(event, number, reason, event.state)
        if trace is not None and reason is Reason.CLAIMED:
            self._count(event, number, trace.claims, "claimed")
        elif trace is not None and reason is Reason.DISPATCHED:
            self._note_dispatch(event, number, trace)
        elif trace is not None and reason in ENDINGS:
            self._count(event, number, trace.ends, "ended")

    def _move(self, event: Event, number: int, reason: Reason, after: State) -> Trace | None:
        """Return the job's trace after the move; None if the event is implausible."""
        assert event.job_id is not None
        trace = self.traces.get(event.job_id)
        if reason in CREATIONS:
            # An id may be reused once its first job was pruned; events of that one may outlive it for a while.
            if trace is not None and (self.bounds.whole or trace.state not in TERMINAL):
                self._find(Code.DOUBLED_JOB, "it has two creation events", event, number)
                return None
            trace = None
        if trace is None:
            before = None
            trace = self.traces[event.job_id] = Trace(state=after, created=reason in CREATIONS, first_at=event.at)
            if reason not in CREATIONS and not self.bounds.whole:
                return trace
        else:
            before = trace.state
        if not is_legal(reason, before, after):
            self._find_illegal(event, number, f"leads from {before or 'nothing'} to {after}")
        trace.state = after
        return trace

    def _count(self, event: Event, number: int, numbers: list[int], verb: str) -> None:
        if event.attempt is None:
            self._find(Code.MISSING_ATTEMPT, f"was {verb}, but the event names no attempt", event, number)
            return
        if numbers and event.attempt <= numbers[-1]:
            self._find(
                Code.DOUBLED_CLAIM,
                f"attempt {event.attempt} was {verb} after attempt {numbers[-1]} had been",
                event,
                number,
            )
        numbers.append(event.attempt)

    def _note_dispatch(self, event: Event, number: int, trace: Trace) -> None:
        self._count(event, number, [*trace.claims[-1:], *list(trace.dispatches)[-1:]], "dispatched")
        if event.attempt is not None:
            trace.dispatches[event.attempt] = event.at

    def _note_change(self, event: Event, number: int) -> None:
        try:
            change = msgspec.convert({"at": event.at, **event.details}, SlotChange)
        except (msgspec.ValidationError, TypeError):
            self._find(Code.EVENT_GAP, f"the change of queue {event.queue!r} cannot be read", event, number)
            return
        self.changes.setdefault(event.queue, []).append(change)

    def _find_illegal(self, event: Event, number: int, why: str) -> None:
        self._find(Code.ILLEGAL_TRANSITION, f"`{event.type}` {why}", event, number)

    def _find(
        self,
        code: Code,
        message: str,
        event: Event | None = None,
        number: int = 0,
        rows: tuple[dict[str, Any], ...] = (),
    ) -> None:
        if event is not None:
            rows = (msgspec.to_builtins(msgspec.structs.replace(event, id=number)),)
        self.findings.append(
            Finding(
                code=code,
                message=message,
                job_id=event.job_id if event else None,
                queue=event.queue if event else None,
                rows=rows,
            )
        )


def _name(batch: AuditedBatch) -> str:
    return f"event batch #{batch.seq}"


def _row(batch: AuditedBatch) -> dict[str, Any]:
    return {"seq": batch.seq, "at": batch.at, "count": batch.count, "first_id": batch.first_id}
