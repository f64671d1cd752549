"""The state machine: one row per reason a job moves, and nothing about states anywhere else.

Stores, events, audits, docs and CHECK constraints all take their words from here.
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class State(enum.StrEnum):
    """Where a job is."""

    PENDING = "pending"
    READY = "ready"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED = frozenset({State.PENDING, State.READY, State.RUNNING})
TERMINAL = frozenset(State) - UNFINISHED


class AttemptStatus(enum.StrEnum):
    """How a try of a job stands. The running one is the job row itself; the others are written once, at the end."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LOST = "lost"
    RELEASED = "released"


class Reason(enum.StrEnum):
    """Why a job moves: the verb in function, statement, event, metric and doc."""

    ENQUEUED = "enqueued"
    SCHEDULED = "scheduled"
    PROMOTED = "promoted"
    CLAIMED = "claimed"
    SUCCEEDED = "succeeded"
    RETRIED = "retried"
    FAILED = "failed"
    RELEASED = "released"
    POSTPONED = "postponed"
    OVERDUE = "overdue"
    STOP_REQUESTED = "stop_requested"
    STOPPED = "stopped"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    DEPENDENCY_FAILED = "dependency_failed"
    REQUEUED = "requeued"
    REPRIORITISED = "reprioritised"


class Move(NamedTuple):
    """From which states a reason leads where. No source: the job is new. No target: it stays where it is."""

    sources: frozenset[State]
    target: State | None
    meaning: str


def _move(sources: str, target: State | None, meaning: str) -> Move:
    return Move(frozenset(State(word) for word in sources.split()), target, meaning)


LIFECYCLE: dict[Reason, Move] = {
    Reason.ENQUEUED: _move("", State.READY, "created with nothing to wait for"),
    Reason.SCHEDULED: _move("", State.PENDING, "created, waiting for its time or its dependencies"),
    Reason.PROMOTED: _move("pending", State.READY, "its time has come and its dependencies have succeeded"),
    Reason.CLAIMED: _move("ready", State.RUNNING, "an instance took it, with a lease and a new fence"),
    Reason.SUCCEEDED: _move("running", State.SUCCEEDED, "its body returned"),
    Reason.RETRIED: _move("running", State.PENDING, "the attempt failed, timed out or was lost; another follows"),
    Reason.FAILED: _move("running", State.FAILED, "the attempt failed and no other follows"),
    Reason.RELEASED: _move("running", State.READY, "handed back by an instance that shuts down; burns no retry"),
    Reason.POSTPONED: _move("running", State.PENDING, "put off by the task itself; burns no retry"),
    Reason.OVERDUE: _move("running", None, "its deadline passed; the work is being stopped"),
    Reason.STOP_REQUESTED: _move("running", None, "somebody cancelled it; the work is being stopped"),
    Reason.STOPPED: _move("running", State.CANCELLED, "the cancelled work has stopped"),
    Reason.CANCELLED: _move("pending ready", State.CANCELLED, "cancelled before it ran"),
    Reason.REPLACED: _move("pending ready", State.CANCELLED, "another job with its unique key took its place"),
    Reason.DEPENDENCY_FAILED: _move("pending", State.FAILED, "a dependency failed and it was told to fail with it"),
    Reason.REQUEUED: _move("failed cancelled", State.PENDING, "somebody asked for it to be tried again"),
    Reason.REPRIORITISED: _move("pending ready running", None, "its priority or urgency changed"),
}


def is_legal(reason: Reason, before: State | None, after: State) -> bool:
    """Whether `reason` may take a job from `before` (None: not there yet) to `after`."""
    move = LIFECYCLE[reason]
    if before is None:
        return not move.sources and after == move.target
    return before in move.sources and after == (move.target or before)


def sources_of(reason: Reason) -> tuple[str, ...]:
    """The states a reason may start from, in the order of the table, for messages and statements."""
    return tuple(state.value for state in State if state in LIFECYCLE[reason].sources)
