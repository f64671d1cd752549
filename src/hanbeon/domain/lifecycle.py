"""The state machine: one row per reason for which a job moves, and the only definition of states.

Stores, events, audits, docs and CHECK constraints all derive their names from here.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeVar


class State(enum.StrEnum):
    """The state of a job."""

    PENDING = "pending"
    READY = "ready"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED = frozenset({State.PENDING, State.READY, State.RUNNING})
TERMINAL = frozenset(State) - UNFINISHED


class AttemptStatus(enum.StrEnum):
    """The status of an attempt. The running one is the job row itself; the others are written once, at the end."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LOST = "lost"
    RELEASED = "released"


class Reason(enum.StrEnum):
    """The reason of a move: the verb in function, statement, event, metric and doc."""

    ENQUEUED = "enqueued"
    SCHEDULED = "scheduled"
    PROMOTED = "promoted"
    DISPATCHED = "dispatched"
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
    EXPIRED = "expired"
    REQUEUED = "requeued"
    REPRIORITISED = "reprioritised"
    MARKED_DONE = "marked_done"


class Move(NamedTuple):
    """The source states and the target of a reason. No source: the job is new. No target: the state does not change."""

    sources: frozenset[State]
    target: State | None
    meaning: str


def _move(sources: str, target: State | None, meaning: str) -> Move:
    return Move(frozenset(State(word) for word in sources.split()), target, meaning)


LIFECYCLE: dict[Reason, Move] = {
    Reason.ENQUEUED: _move("", State.READY, "created with nothing to wait for"),
    Reason.SCHEDULED: _move("", State.PENDING, "created, waiting for its time or its dependencies"),
    Reason.PROMOTED: _move("pending", State.READY, "its time has come and its dependencies have succeeded"),
    Reason.DISPATCHED: _move("ready", None, "sent to the stream workers, with a new fence and a slot, and no lease"),
    Reason.CLAIMED: _move("ready", State.RUNNING, "an instance took it, with a lease and a new fence"),
    Reason.SUCCEEDED: _move("running", State.SUCCEEDED, "its body returned"),
    Reason.RETRIED: _move("running", State.PENDING, "the attempt failed, timed out or was lost; another follows"),
    Reason.FAILED: _move("running", State.FAILED, "the attempt failed and no other follows"),
    Reason.RELEASED: _move("running", State.READY, "handed back by an instance that shuts down; burns no retry"),
    Reason.POSTPONED: _move(
        "running", State.PENDING, "put off by its task, or lost before its body began; burns no retry"
    ),
    Reason.OVERDUE: _move("running", None, "its deadline passed; the work is being stopped"),
    Reason.STOP_REQUESTED: _move("running", None, "cancelled by a user; the work is being stopped"),
    Reason.STOPPED: _move("running", State.CANCELLED, "the cancelled work has stopped"),
    Reason.CANCELLED: _move("pending ready", State.CANCELLED, "cancelled before it ran"),
    Reason.REPLACED: _move("pending ready", State.CANCELLED, "another job with its unique key took its place"),
    Reason.DEPENDENCY_FAILED: _move("pending", State.FAILED, "a dependency failed and its policy is to fail with it"),
    Reason.EXPIRED: _move("pending ready", State.FAILED, "its `expires` passed before it had ended"),
    Reason.REQUEUED: _move("failed cancelled", State.PENDING, "retried by a user"),
    Reason.REPRIORITISED: _move("pending ready running", None, "its priority or urgency changed"),
    Reason.MARKED_DONE: _move("failed cancelled", State.SUCCEEDED, "marked as done by a user, who said why"),
}


def is_legal(reason: Reason, before: State | None, after: State) -> bool:
    """True if `reason` may take a job from `before` (None: not created yet) to `after`."""
    move = LIFECYCLE[reason]
    if before is None:
        return not move.sources and after == move.target
    return before in move.sources and after == (move.target or before)


def sources_of(reason: Reason) -> tuple[str, ...]:
    """Return the source states of a reason in declaration order, for messages and statements."""
    return tuple(state.value for state in State if state in LIFECYCLE[reason].sources)


K = TypeVar("K", bound=enum.Enum)
V = TypeVar("V")


class Phase(enum.StrEnum):
    """A state, or `overdue`: running past its deadline and being stopped."""

    PENDING = "pending"
    READY = "ready"
    RUNNING = "running"
    OVERDUE = "overdue"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


def total(kind: type[K], table: Mapping[K, V]) -> Mapping[K, V]:
    """Return the table if it covers every member; a surface that lacks a new member fails at import."""
    missing = [member.name for member in kind if member not in table]
    if missing:
        raise TypeError(f"no entry for {', '.join(missing)} of {kind.__name__}; add one to the table")
    return table


PHASES: Mapping[State, Phase] = total(State, {state: Phase(state.value) for state in State})
"""The phase of each state while no deadline has passed."""
STATES: Mapping[Phase, State] = total(
    Phase, {phase: state for state, phase in PHASES.items()} | {Phase.OVERDUE: State.RUNNING}
)


def phase_of(state: State, deadline_at: int | None, now: int) -> Phase:
    """Return the phase of a job at an instant."""
    if state is State.RUNNING and deadline_at is not None and deadline_at <= now:
        return Phase.OVERDUE
    return PHASES[state]


class Selection(NamedTuple):
    """Phases as a store filter: states, and for running jobs only the overdue ones, only the others, or both (None)."""

    states: tuple[State, ...]
    overdue: bool | None


def selection(phases: Collection[Phase]) -> Selection:
    states = tuple(state for state in State if state in {STATES[phase] for phase in phases})
    overdue = Phase.OVERDUE in phases
    return Selection(states, None if overdue == (Phase.RUNNING in phases) else overdue)
