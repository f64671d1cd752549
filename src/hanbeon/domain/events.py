"""What is told of a job's life: one event per move, in the words of the lifecycle."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain.lifecycle import Reason, State

QUEUE_CHANGED = "queue_changed"


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened. `id` is 0 until the event has its public number, which follows commit order."""

    type: str
    at: int
    queue: str
    id: int = 0
    job_id: str | None = None
    task: str | None = None
    state: State | None = None
    attempt: int | None = None
    details: dict[str, Any] = msgspec.field(default_factory=dict)


def moved(
    reason: Reason,
    *,
    at: int,
    queue: str,
    job_id: str,
    task: str,
    state: State,
    attempt: int | None = None,
    **details: Any,
) -> Event:
    """The event of a job's move; details that are None are left out."""
    return Event(
        type=reason.value,
        at=at,
        queue=queue,
        job_id=job_id,
        task=task,
        state=state,
        attempt=attempt,
        details={name: value for name, value in details.items() if value is not None},
    )
