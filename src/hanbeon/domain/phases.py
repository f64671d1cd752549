"""Phases: the states of a job as surfaces show them, with running jobs split by whether they are overdue."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeVar

from hanbeon.domain.lifecycle import State

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
