"""Events of a job's life: one per move, named after the reasons of the lifecycle."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from hanbeon.domain.lifecycle import LIFECYCLE, Reason, State

QUEUE_CHANGED = "queue_changed"
PRUNED = "pruned"
# The source state of moves that have only one; for the others the caller must pass it. Keyed by string, because the
# hash of an enumeration member is computed in Python code.
_ONLY_SOURCE: dict[str, State | None] = {
    reason.value: next(iter(move.sources), None) for reason, move in LIFECYCLE.items() if len(move.sources) <= 1
}


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Something that happened. `id` is 0 until the event has its public number, which follows commit order.

    For a move, `was` is the state before it (None: the job is new). `took` is microseconds: for a claim how long the
    job had waited, for the end of an attempt how long it ran, if its end was observed.
    """

    type: str
    at: int
    queue: str
    id: int = 0
    job_id: str | None = None
    task: str | None = None
    state: State | None = None
    was: State | None = None
    attempt: int | None = None
    took: int | None = None
    details: dict[str, Any] = msgspec.field(default_factory=dict)


class EventFactory(Protocol):
    """Builds the event of one move."""

    def __call__(
        self, at: int, queue: str, job_id: str, task: str, attempt: int | None = None, took: int | None = None
    ) -> Event: ...


def event_factory(reason: Reason, state: State, was: State | None = None, **details: Any) -> EventFactory:
    """Return a factory for many similar moves, whose shared fields are computed once. Omits details that are None.

    `was` must be given where the lifecycle allows several source states. A clock that was set back never makes a
    duration negative.
    """
    kind = reason.value
    source = _ONLY_SOURCE[kind] if was is None else was
    given = {name: value for name, value in details.items() if value is not None}

    def build(
        at: int, queue: str, job_id: str, task: str, attempt: int | None = None, took: int | None = None
    ) -> Event:
        return Event(
            type=kind,
            at=at,
            queue=queue,
            job_id=job_id,
            task=task,
            state=state,
            was=source,
            attempt=attempt,
            took=None if took is None else max(0, took),
            details=given,
        )

    return build


def moved(
    reason: Reason,
    *,
    at: int,
    queue: str,
    job_id: str,
    task: str,
    state: State,
    was: State | None = None,
    attempt: int | None = None,
    took: int | None = None,
    **details: Any,
) -> Event:
    """Return the event of a single move."""
    return event_factory(reason, state, was, **details)(at, queue, job_id, task, attempt, took)
