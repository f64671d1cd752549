"""The fires of one schedule against its times: each exactly once, in the history or waiting, and no others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from hanbeon.domain.audit.case import STUCK_AFTER_US
from hanbeon.domain.audit.findings import Finding, FindingCode, Invariant, Severity
from hanbeon.domain.timing.fire_times import Timing
from hanbeon.surfaces.schedules.misfire import COUNTED, RECORDED, Misfire, plan
from hanbeon.surfaces.schedules.vocabulary import FireOutcome

MOST = 1_000
"""The number of a schedule's latest times that are checked."""
_SHOWN = 5


class ScheduleCode(FindingCode):
    """The kinds of inconsistency of schedules, in the order in which they are reported."""

    LOST_FIRE = "lost_fire", "a fire had no effect, or its execution or its line in the history is gone"
    DOUBLED_FIRE = "doubled_fire", "one fire made two executions, or waits although it was decided"
    WRONG_FIRE = (
        "wrong_fire",
        "a schedule fired at an instant that is not one of its times, or by an earlier definition",
    )
    OVERLAPPING_EXECUTIONS = (
        "overlapping_executions",
        "two executions of one task ran at the same time, though each was to run alone",
    )
    STUCK_SCHEDULE = "stuck_schedule", "a schedule that was due a minute ago has not been processed"


class ScheduleInvariant(Invariant):
    """The invariants of schedules, in the order of their codes."""

    TIME_KEPT = "time_kept", ScheduleCode.LOST_FIRE, "each past time of a schedule is in its history, or waits"
    SUM_KEPT = "sum_kept", ScheduleCode.LOST_FIRE, "a line of a history stands for as many fires as it says"
    EXECUTION_KEPT = "execution_kept", ScheduleCode.LOST_FIRE, "a fire that made an execution has it"
    FIRE_KEPT = "fire_kept", ScheduleCode.LOST_FIRE, "an execution of a schedule has its line in the history"
    ONE_EXECUTION = "one_execution", ScheduleCode.DOUBLED_FIRE, "a fire made at most one execution"
    DECIDED_ONCE = "decided_once", ScheduleCode.DOUBLED_FIRE, "no fire waits that was decided"
    OWN_TIME = "own_time", ScheduleCode.WRONG_FIRE, "a schedule fires at its own times only"
    NOT_AHEAD = "not_ahead", ScheduleCode.WRONG_FIRE, "no fire is after the instant up to which they were decided"
    IN_FORCE = "in_force", ScheduleCode.WRONG_FIRE, "an execution was made by the definition in force"
    ALONE = "alone", ScheduleCode.OVERLAPPING_EXECUTIONS, "executions that run alone do not overlap"
    PROCESSED = "processed", ScheduleCode.STUCK_SCHEDULE, "a schedule that is due is processed within a minute"


class ScheduleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a schedule's row that an audit needs."""

    id: str
    timing: Timing
    considered_to: int
    timed_since: int
    due_at: int | None
    waiting: Sequence[int] = ()


class FireFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the history."""

    fire_at: int
    outcome: FireOutcome
    more: int
    recorded_at: int


class Expected(msgspec.Struct, frozen=True):
    """The times at which a schedule must have fired by its present definition, from the first that can be checked."""

    times: list[int]
    whole: bool

    @classmethod
    def of(cls, schedule: ScheduleFacts, pruned_before: int) -> Expected:
        """Compute the expected times. Records from before `pruned_before` may be gone, so earlier times are omitted."""
        after = max(schedule.timed_since, pruned_before)
        found = plan(schedule.timing, after, schedule.considered_to, Misfire.ALL, MOST - RECORDED, 0)
        return cls([fire.at for fire in found.fires], found.dropped is None)

    def start(self, schedule: ScheduleFacts) -> int:
        """Return the instant from which on the history is relevant."""
        return self.times[0] if self.times else schedule.considered_to + 1


def audit_schedule(
    schedule: ScheduleFacts, expected: Expected, fires: Sequence[FireFacts], now: int
) -> Iterator[Finding]:
    """Check a schedule. `fires` are in order, from the last one before `expected`: that one may stand for several."""
    lines, waiting = [fire.fire_at for fire in fires], set(schedule.waiting)
    covered: dict[int, int] = {}
    lost = []
    for time in expected.times:
        place = bisect_left(lines, time)
        listed = place < len(lines) and lines[place] == time
        if listed and time in waiting:
            yield _found(
                schedule, ScheduleInvariant.DECIDED_ONCE, "it is in the history and waits at the same time", [time]
            )
        elif not listed and time not in waiting:
            if place and fires[place - 1].more:
                covered[place - 1] = covered.get(place - 1, 0) + 1
            else:
                lost.append(time)
    if lost:
        message = f"{len(lost)} of its times are past, and are neither in the history nor waiting"
        yield _found(schedule, ScheduleInvariant.TIME_KEPT, message, lost)
    yield from _check_sums(schedule, expected, fires, covered)
    yield from _check_strangers(schedule, expected, lines)
    if schedule.due_at is not None and schedule.due_at < now - STUCK_AFTER_US:
        stuck = _found(
            schedule, ScheduleInvariant.PROCESSED, "it is due, but no instance processes it", [schedule.due_at]
        )
        yield msgspec.structs.replace(stuck, severity=Severity.WARNING)


def _check_sums(
    schedule: ScheduleFacts, expected: Expected, fires: Sequence[FireFacts], covered: dict[int, int]
) -> Iterator[Finding]:
    """Check that a line stands for exactly `more` others, or for at least that many if the count was capped."""
    for place, fire in enumerate(fires):
        if not fire.more or fire.fire_at < expected.start(schedule) or fire.fire_at > schedule.considered_to:
            continue
        found, exact = covered.get(place, 0), fire.more < COUNTED - 1
        if found < fire.more or (exact and found != fire.more):
            message = f"a line stands for {fire.more} more fires, but there are {found} up to the next one"
            yield _found(schedule, ScheduleInvariant.SUM_KEPT, message, [fire.fire_at])


def _check_strangers(schedule: ScheduleFacts, expected: Expected, lines: Sequence[int]) -> Iterator[Finding]:
    begin = bisect_left(lines, expected.start(schedule))
    end = bisect_right(lines, schedule.considered_to)
    times = set(expected.times)
    strangers = [line for line in lines[begin:end] if line not in times]
    if strangers:
        yield _found(
            schedule, ScheduleInvariant.OWN_TIME, "it fired at instants that are not among its times", strangers
        )
    if lines[end:]:
        yield _found(schedule, ScheduleInvariant.NOT_AHEAD, "it fired at instants in the future", lines[end:])


def _found(schedule: ScheduleFacts, rule: ScheduleInvariant, message: str, times: Sequence[int]) -> Finding:
    rows: list[dict[str, Any]] = [{"schedule": schedule.id, "fire_at": time} for time in times[:_SHOWN]]
    return rule.broken(message, schedule_id=schedule.id, rows=tuple(rows))
