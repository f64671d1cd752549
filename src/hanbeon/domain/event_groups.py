"""Strips of events: many events of one kind from one transaction, stored with what they share written once.

A batch of events is a list of events, or an object with strips. All events of a strip happened when its batch was
written. Its delta of the tallies is not stored: whoever needs it derives it from the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from hanbeon.domain.events import Event, event_factory
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.tally import Delta, add_moves


class _Strip(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: Reason
    queue: str
    task: str
    state: State
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    jobs: list[tuple[str, int, int]]
    """The id of each job, its attempt, and since when it waited or ran."""


class _Strips(msgspec.Struct, frozen=True):
    strips: list[_Strip]


class _QueueOf(msgspec.Struct, frozen=True):
    queue: str


class _Queues(msgspec.Struct, frozen=True):
    strips: list[_QueueOf]


_events = msgspec.json.Decoder(list[Event])
_strips = msgspec.json.Decoder(_Strips)
_queues = msgspec.json.Decoder(_Queues)
_NO_JOBS = "]}"


def decode_events(body: str, at: int) -> list[Event]:
    """Return the events of a batch that was written at this instant. Raises `msgspec.DecodeError`."""
    if not body.startswith("{"):
        return _events.decode(body)
    found = []
    for strip in _strips.decode(body).strips:
        build = event_factory(strip.type, strip.state, **strip.details)
        found += [build(at, strip.queue, id, strip.task, attempt, at - since) for id, attempt, since in strip.jobs]
    return found


def deltas_of(body: str, at: int) -> dict[str, Delta]:
    """Return the changes that the strips of a batch make to each queue. Raises `msgspec.DecodeError`.

    A list of events has none but those that are stored with it.
    """
    if not body.startswith("{"):
        return {}
    deltas: dict[str, Delta] = {}
    for strip in _strips.decode(body).strips:
        spans = [max(0, at - since) for _, _, since in strip.jobs]
        add_moves(deltas, strip.queue, strip.type, strip.state, spans)
    return deltas


def queues_of(body: str) -> set[str]:
    """Return the queues of the strips of a batch, likewise."""
    return {each.queue for each in _queues.decode(body).strips} if body.startswith("{") else set()


@lru_cache(maxsize=1024)
def before_jobs(reason: Reason, state: State, queue: str, task: str, *details: tuple[str, Any]) -> str:
    """Return the text of a strip up to its list of jobs."""
    strip = _Strip(type=reason, queue=queue, task=task, state=state, details=dict(details), jobs=[])
    return msgspec.json.encode(strip).decode().removesuffix(_NO_JOBS)


def batch_of(strips: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the body of a batch of strips: for each, the text up to its jobs, and those, by `job_text`."""
    texts = [before + ",".join(jobs) + _NO_JOBS for before, jobs in strips]
    return '{"strips":[' + ",".join(texts) + "]}"


def job_text(id: str, attempt: int, since: int) -> str:
    """Return a job of a strip."""
    return f'["{id}",{attempt},{since}]'
