"""The guard of the attempts held here: it stops them in time, by the monotonic clock, asking nobody."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from hanbeon.engine import running_attempts
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.errors import DatabaseUnavailable
from hanbeon.executors.executor import StopCause
from hanbeon.store.operations.lease import Lease, LeaseFacts
from hanbeon.store.store import Store
from hanbeon.testing import VirtualClock
from tests.engine.attempts import LEASE, HandWork, NoStore, new_attempt

IDLE = 5.0


class Notebook:
    """A store that takes overdue notes, or is away."""

    lanes = None

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, away: bool = False) -> None:
        self.noted: list[Lease] = []
        self._away = away
        monkeypatch.setattr(running_attempts, "note_overdue", self._note)

    async def write(self, operation: Callable[[object], Awaitable[None]]) -> None:
        if self._away:
            raise DatabaseUnavailable("gone")
        await operation(self)

    async def _note(self, tx: object, lanes: object, lease: Lease) -> None:
        self.noted.append(lease)


def running(clock: VirtualClock, *attempts: Attempt, store: object | None = None) -> RunningAttempts:
    held = RunningAttempts(cast(Store, store or NoStore()), clock, idle_seconds=IDLE)
    for attempt in attempts:
        attempt.begin(HandWork(), clock.monotonic())
        held.add(attempt)
    return held


async def test_work_is_given_up_in_time_without_the_database() -> None:
    clock, attempt = VirtualClock(), new_attempt()
    held = running(clock, attempt)
    assert await held.guard() == IDLE
    await clock.advance(LEASE * 0.9 - 1)
    assert await held.guard() == 1.0, "the next look is when it matters"
    assert attempt.cause is None
    await clock.advance(1)
    await held.guard()
    assert attempt.lost
    assert await held.guard() == IDLE


async def test_a_deadline_stops_the_work_and_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, store, attempt = VirtualClock(), Notebook(monkeypatch), new_attempt(timeout=2)
    held = running(clock, attempt, store=store)
    assert await held.guard() == 2.0
    await clock.advance(2)
    assert await held.guard() == IDLE
    assert attempt.cause is StopCause.DEADLINE
    assert attempt.overdue_note is not None
    await attempt.overdue_note
    assert store.noted == [attempt.lease]


async def test_guard_stops_overdue_work_without_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, attempt = VirtualClock(), new_attempt(timeout=2)
    held = running(clock, attempt, store=Notebook(monkeypatch, away=True))
    await clock.advance(2)
    await held.guard()
    assert attempt.cause is StopCause.DEADLINE
    assert attempt.overdue_note is not None
    await asyncio.wait_for(attempt.overdue_note, 5)


async def test_settling_attempt_is_not_overdue_but_may_lose_lease() -> None:
    clock, attempt = VirtualClock(), new_attempt(timeout=2)
    held = running(clock, attempt)
    attempt.settling = True
    await clock.advance(3)
    await held.guard()
    assert attempt.cause is None
    await clock.advance(LEASE)
    await held.guard()
    assert attempt.lost


async def test_learns_whom_to_stop_from_the_database() -> None:
    clock = VirtualClock()
    cancelled, lost, fine, settling = attempts = [new_attempt(seq=seq) for seq in range(1, 5)]
    held = running(clock, *attempts)
    settling.settling = True
    held.learn(held.held(), LeaseFacts(renewed={3}, lost={2, 4}, stop={1, 4}))
    assert [each.cause for each in (cancelled, lost, fine, settling)] == [
        StopCause.CANCELLED,
        StopCause.LEASE_LOST,
        None,
        None,
    ]
    assert held.held().keys() == {1, 3, 4}


async def test_learn_ignores_attempts_that_have_ended_meanwhile() -> None:
    old, new = new_attempt(fence=1), new_attempt(fence=2)
    held = running(VirtualClock(), old)
    asked_about = held.held()
    held.remove([old])
    held.add(new)
    held.learn(asked_about, LeaseFacts(renewed=set(), lost={1}, stop=set()))
    assert (old.cause, new.cause) == (None, None)


async def test_reclaiming_its_own_job_stops_the_older_attempt() -> None:
    """It was suspended for longer than its lease; recovery and claim were quicker than the guard."""
    older, later = new_attempt(fence=1), new_attempt(fence=2)
    held = running(VirtualClock(), older, later)
    assert older.lost
    assert later.cause is None
    assert len(held) == 2, "both use a slot until they have ended"
    assert held.held() == {1: later}
    held.remove([older])
    assert held.held() == {1: later}
    held.remove([later])
    assert len(held) == 0
