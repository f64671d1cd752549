"""Overlap decisions: the outcome of planned fires while an execution of the task may be unfinished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from hanbeon.surfaces.schedules.definition import Definition
from hanbeon.surfaces.schedules.misfire import Misfire, MisfireOutcome, Overlap, Plan, PlannedFire
from hanbeon.surfaces.schedules.vocabulary import FireOutcome, FireReason


class Fired(NamedTuple):
    """A line of the history. `more`: the (minimum) number of later fires that share this line."""

    at: int
    outcome: FireOutcome
    reason: FireReason | None = None
    more: int = 0


class Decision(msgspec.Struct, frozen=True):
    """Lines for the history, whose created ones need an execution; and fires that wait until the task is free."""

    fired: list[Fired]
    waiting: list[int]
    busy: bool

    @property
    def created(self) -> list[int]:
        return [each.at for each in self.fired if each.outcome is FireOutcome.CREATED]


def decide(plan: Plan, definition: Definition, *, busy: bool, waiting: Sequence[int], late_before: int) -> Decision:
    """Decide the planned fires in order of time.

    A schedule that forbids overlap and catches up on all missed fires runs them one after the other: they wait their
    turn.
    """
    fired = passed_over(plan, definition)
    waits = list(waiting)
    # Including the fires that are on time: one that arrives while others wait would be the only one to be lost.
    catching_up = definition.misfire is Misfire.ALL and any(each.at < late_before for each in plan.fires)
    for each in plan.fires:
        if each.outcome is not MisfireOutcome.DUE:
            fired.append(_passed(each, definition))
        elif definition.overlap is Overlap.ALLOW or (not busy and not waits):
            fired.append(Fired(each.at, FireOutcome.CREATED))
            busy = True
        elif catching_up:
            waits.append(each.at)
        elif definition.overlap is Overlap.SKIP:
            fired.append(Fired(each.at, FireOutcome.SKIPPED, FireReason.OVERLAP))
        elif not waits:
            waits.append(each.at)
        else:
            fired.append(Fired(each.at, FireOutcome.SKIPPED, FireReason.QUEUE_FULL))
    return Decision(fired, waits, busy)


def take_turn(definition: Definition, *, busy: bool, waiting: Sequence[int]) -> Decision:
    """Release the next waiting fire if the task is free; all of them where overlap is allowed."""
    if definition.overlap is Overlap.ALLOW:
        return Decision([Fired(at, FireOutcome.CREATED) for at in waiting], [], True)
    if busy or not waiting:
        return Decision([], list(waiting), busy)
    return Decision([Fired(waiting[0], FireOutcome.CREATED)], list(waiting[1:]), True)


def passed_over(plan: Plan, definition: Definition) -> list[Fired]:
    """Return one line for all fires that are too many to be listed."""
    dropped = plan.dropped
    if dropped is None:
        return []
    line = _passed(PlannedFire(dropped.first, dropped.outcome), definition)
    return [line._replace(more=dropped.count - 1)]


def _passed(each: PlannedFire, definition: Definition) -> Fired:
    if each.outcome is MisfireOutcome.COALESCED:
        return Fired(each.at, FireOutcome.COALESCED, FireReason.CAUGHT_UP)
    reason = FireReason.LATE if definition.misfire is Misfire.SKIP else FireReason.LIMIT
    return Fired(each.at, FireOutcome.MISSED, reason)
