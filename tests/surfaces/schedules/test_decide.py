"""Decisions about planned fires while an execution may be unfinished."""

import pytest

from hanbeon.domain.timing.fire_times import Timing
from hanbeon.surfaces.schedules.decide import decide, take_turn
from hanbeon.surfaces.schedules.definition import Definition
from hanbeon.surfaces.schedules.misfire import Misfire, MisfireOutcome, Overlap, Plan, PlannedFire

LATE_BEFORE = 100
PLAN = Plan([PlannedFire(at, MisfireOutcome.DUE) for at in (101, 102, 103)], 103, None)
MISSED = Plan([PlannedFire(at, MisfireOutcome.DUE) for at in (1, 2, 103)], 103, None)


def says(overlap: Overlap, misfire: Misfire = Misfire.COALESCE) -> Definition:
    return Definition(timing=Timing(timezone="UTC", cron="* * * * *"), overlap=overlap, misfire=misfire)


@pytest.mark.parametrize(
    ("overlap", "busy", "outcomes", "waiting"),
    [
        (Overlap.SKIP, False, ["created", "skipped overlap", "skipped overlap"], []),
        (Overlap.SKIP, True, ["skipped overlap"] * 3, []),
        (Overlap.ALLOW, True, ["created"] * 3, []),
        (Overlap.QUEUE_ONE, False, ["created", "skipped queue_full"], [102]),
        (Overlap.QUEUE_ONE, True, ["skipped queue_full"] * 2, [101]),
    ],
)
def test_an_unfinished_execution_decides(overlap: Overlap, busy: bool, outcomes: list[str], waiting: list[int]) -> None:
    decision = decide(PLAN, says(overlap), busy=busy, waiting=[], late_before=LATE_BEFORE)
    assert [" ".join(filter(None, (each.outcome, each.reason))) for each in decision.fired] == outcomes
    assert (decision.waiting, decision.busy) == (waiting, True)


@pytest.mark.parametrize(("busy", "created"), [(False, [1]), (True, [])])
def test_all_that_was_missed_waits_its_turn_with_what_is_on_time(busy: bool, created: list[int]) -> None:
    decision = decide(MISSED, says(Overlap.SKIP, Misfire.ALL), busy=busy, waiting=[], late_before=LATE_BEFORE)
    assert decision.created == created
    assert decision.waiting == [at for at in (1, 2, 103) if at not in created]


def test_turns_are_taken_one_by_one_when_the_task_is_free() -> None:
    assert take_turn(says(Overlap.QUEUE_ONE), busy=True, waiting=[1, 2]).created == []
    turn = take_turn(says(Overlap.QUEUE_ONE), busy=False, waiting=[1, 2])
    assert (turn.created, turn.waiting) == ([1], [2])
    assert take_turn(says(Overlap.ALLOW), busy=True, waiting=[1, 2]).created == [1, 2]
