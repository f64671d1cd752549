"""Claims of all lanes, or only from the position where the last claim left off."""

from typing import Any, cast

import pytest

from hanbeon.domain.job import Claimed
from hanbeon.engine.claim import Claimer, UnansweredClaims
from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.errors import DatabaseUnavailable
from hanbeon.settings import Settings
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
from hanbeon.store.store import Store
from hanbeon.testing import VirtualClock
from tests.engine.attempts import new_attempt

ONE = new_attempt().job
HERE, THERE = LanePosition(7, 0, 3), LanePosition(7, 0, 4)
FIRST = LanePosition.before_all(7)


class Lanes:
    """Records requests, and returns a prepared answer."""

    def __init__(self) -> None:
        self.asked: list[LanePosition | None] = []
        self.answer = ClaimAnswer([ONE], 0, HERE, more=True)
        self.meanwhile: Any = lambda: None

    async def claim(self, request: ClaimRequest) -> ClaimAnswer:
        self.asked.append(request.behind)
        self.meanwhile()
        return self.answer


def claimer(lanes: Lanes, clock: VirtualClock, started: list[Claimed] | None = None) -> Claimer:
    started = [] if started is None else started
    return Claimer(
        cast(Store, lanes),
        Settings(),
        clock,
        tasks=lambda: ["work"],
        slots=lambda: 10,
        running=lambda: 0,
        start=lambda jobs, _: started.extend(jobs),
        unanswered=UnansweredClaims(
            cast(Store, lanes), Settings(), clock, RunningAttempts(cast(Store, lanes), clock, idle_seconds=1)
        ),
    )


async def test_goes_on_where_it_left_off_for_a_second() -> None:
    lanes, clock = Lanes(), VirtualClock()
    asking = claimer(lanes, clock)
    await asking.run_once()
    await asking.run_once()
    lanes.answer = ClaimAnswer([ONE], 0, THERE, more=True)
    await asking.run_once()
    await asking.run_once()
    await clock.advance(1.0)
    await asking.run_once()
    assert lanes.asked == [None, HERE, HERE, THERE, None]


async def test_a_lane_that_gave_less_than_asked_is_not_gone_back_to() -> None:
    lanes = Lanes()
    asking = claimer(lanes, VirtualClock())
    lanes.answer = ClaimAnswer([ONE], 0, HERE, more=False)
    await asking.run_once()
    await asking.run_once()
    assert lanes.asked == [None, None]


async def test_hint_claims_the_last_lane_first_and_then_all_lanes() -> None:
    lanes = Lanes()
    asking = claimer(lanes, VirtualClock())
    await asking.run_once()
    asking.look_again()
    await asking.run_once()
    await asking.run_once()
    for _ in range(4):  # However much comes, every other claim looks at all lanes.
        asking.look_again()
        await asking.run_once()
    assert lanes.asked == [None, FIRST, None, FIRST, None, FIRST, None]


async def test_hint_during_a_claim_forgets_the_lane_position() -> None:
    lanes = Lanes()
    asking = claimer(lanes, VirtualClock())
    lanes.meanwhile = asking.look_again
    await asking.run_once()
    lanes.meanwhile = lambda: None
    await asking.run_once()
    await asking.run_once()
    assert lanes.asked == [None, FIRST, None]


async def test_begins_nothing_whose_lease_ended_before_the_answer() -> None:
    clock = VirtualClock()

    class Sleeping(Lanes):
        async def claim(self, request: ClaimRequest) -> ClaimAnswer:
            await clock.advance(Settings().lease)  # The machine was suspended.
            return self.answer

    started: list[Claimed] = []
    asking = claimer(Sleeping(), clock, started)
    with pytest.raises(DatabaseUnavailable):
        await asking.run_once()
    assert started == []
    assert asking.unanswered.pending
