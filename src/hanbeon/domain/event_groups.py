"""Event groups: events of one kind from one transaction, stored with what they share written once.

A batch of events is a list of events, or an object with groups. All events of a group happened when its batch was
written. Its delta of the tallies is not stored: readers derive it from the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from hanbeon.domain.events import Event, event_factory
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.tally import Delta, add_moves


class EventGroup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Events that are alike but for their job."""

    type: Reason
    queue: str
    task: str
    state: State
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    jobs: list[tuple[str, int, int]]
    """The id of each job, its attempt, and since when it waited or ran."""


class _Groups(msgspec.Struct, frozen=True):
    groups: list[EventGroup]


class _QueueOf(msgspec.Struct, frozen=True):
    queue: str


class _Queues(msgspec.Struct, frozen=True):
    groups: list[_QueueOf]


_events = msgspec.json.Decoder(list[Event])
_groups = msgspec.json.Decoder(_Groups)
_queues = msgspec.json.Decoder(_Queues)
_NO_JOBS = "]}"


def decode_groups(body: str) -> list[EventGroup] | None:
    """Return the groups of a batch; None if it is a list of events. Raises `msgspec.DecodeError`."""
    return _groups.decode(body).groups if body.startswith("{") else None


def decode_events(body: str, at: int) -> list[Event]:
    """Return the events of a batch that was written at this instant. Raises `msgspec.DecodeError`."""
    if not body.startswith("{"):
        return _events.decode(body)
    found = []
    for group in _groups.decode(body).groups:
        build = event_factory(group.type, group.state, **group.details)
        found += [build(at, group.queue, id, group.task, attempt, at - since) for id, attempt, since in group.jobs]
    return found


def deltas_of(body: str, at: int) -> dict[str, Delta]:
    """Return the changes that the groups of a batch make to each queue. Raises `msgspec.DecodeError`.

    A list of events has none but those that are stored with it.
    """
    if not body.startswith("{"):
        return {}
    deltas: dict[str, Delta] = {}
    for group in _groups.decode(body).groups:
        spans = [max(0, at - since) for _, _, since in group.jobs]
        add_moves(deltas, group.queue, group.type, group.state, spans)
    return deltas


def queues_of(body: str) -> set[str]:
    """Return the queues of the groups of a batch; none for a list of events."""
    return {each.queue for each in _queues.decode(body).groups} if body.startswith("{") else set()


@lru_cache(maxsize=1024)
def before_jobs(reason: Reason, state: State, queue: str, task: str, *details: tuple[str, Any]) -> str:
    """Return the text of a group up to its list of jobs."""
    group = EventGroup(type=reason, queue=queue, task=task, state=state, details=dict(details), jobs=[])
    return msgspec.json.encode(group).decode().removesuffix(_NO_JOBS)


def batch_of(groups: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the body of a batch of groups: for each, the text up to its jobs, and those, by `job_text`."""
    texts = [before + ",".join(jobs) + _NO_JOBS for before, jobs in groups]
    return '{"groups":[' + ",".join(texts) + "]}"


def job_text(id: str, attempt: int, since: int) -> str:
    """Return a job of a group."""
    return f'["{id}",{attempt},{since}]'
