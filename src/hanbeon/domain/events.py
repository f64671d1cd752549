"""What is told of a job's life: one event per move, in the words of the lifecycle."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from hanbeon.domain.lifecycle import LIFECYCLE, Reason, State

QUEUE_CHANGED = "queue_changed"
PRUNED = "pruned"
# Where a job was before a move that starts from one state only; of the others, whoever tells them must know it. By
# word: a member of an enumeration is hashed by Python code, a word is not.
_WAS: dict[str, State | None] = {
    reason.value: next(iter(move.sources), None) for reason, move in LIFECYCLE.items() if len(move.sources) <= 1
}


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One thing that happened. `id` is 0 until the event has its public number, which follows commit order.

    Of a move, `was` is the state before it (None: the job is new). `took` is microseconds: of a claim how long the job
    had waited for it, of an attempt's end how long the attempt ran, where somebody saw it end.
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
    """Makes the event of one move."""

    def __call__(
        self, at: int, queue: str, job_id: str, task: str, attempt: int | None = None, took: int | None = None
    ) -> Event: ...


def teller(reason: Reason, state: State, was: State | None = None, **details: Any) -> EventFactory:
    """For many moves that are alike: what their events share is worked out once. Details that are None are left out.

    `was` must be given where the lifecycle leaves it open. A clock that was set back makes no span negative.
    """
    kind = reason.value
    source = _WAS[kind] if was is None else was
    told = {name: value for name, value in details.items() if value is not None}

    def tell(at: int, queue: str, job_id: str, task: str, attempt: int | None = None, took: int | None = None) -> Event:
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
            details=told,
        )

    return tell


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
    """The event of a single move."""
    return teller(reason, state, was, **details)(at, queue, job_id, task, attempt, took)
