"""An instance's view of an attempt: always on the early side, and nothing once the lease is gone."""

import pytest

from hanbeon.errors import LeaseLost, TransactionUnsupported
from hanbeon.executors.executor import StopCause
from tests.engine.attempts import HandExecutor, HandWork, new_attempt


async def test_the_lease_counts_from_before_the_claim_was_sent() -> None:
    attempt = new_attempt(claimed_at=100.0, lease=30.0)
    assert attempt.lease_until == 130.0
    attempt.renewed(sent_at=110.0, lease_seconds=30.0)
    assert attempt.lease_until == 140.0


@pytest.mark.parametrize(("stop_seconds", "give_up_at"), [(0.0, 127.0), (5.0, 122.0)])
async def test_guard_gives_up_before_the_lease_ends(stop_seconds: float, give_up_at: float) -> None:
    attempt = new_attempt(claimed_at=100.0, lease=30.0, executor=HandExecutor(stop_seconds))
    assert attempt.give_up_at == give_up_at
    attempt.renewed(sent_at=110.0, lease_seconds=30.0)
    assert attempt.give_up_at == give_up_at + 10


async def test_the_deadline_counts_from_the_bodys_start() -> None:
    attempt = new_attempt(claimed_at=100.0, timeout=5.0)
    assert attempt.deadline == 105.0
    attempt.begin(HandWork(), now=103.0)
    assert attempt.deadline == 108.0
    assert new_attempt().deadline is None


async def test_the_first_cause_stands() -> None:
    attempt, work = new_attempt(), HandWork()
    attempt.begin(work, 0.0)
    attempt.stop(StopCause.DEADLINE)
    for later in (StopCause.CANCELLED, StopCause.SHUTDOWN, StopCause.DEADLINE):
        attempt.stop(later)
    assert attempt.cause is StopCause.DEADLINE
    assert work.stops == [StopCause.DEADLINE]
    assert attempt.stopping
    assert not attempt.stoppable


async def test_lost_lease_overrides_every_other_stop_cause_once() -> None:
    attempt, work = new_attempt(), HandWork()
    attempt.begin(work, 0.0)
    attempt.stop(StopCause.CANCELLED)
    attempt.stop(StopCause.LEASE_LOST)
    attempt.stop(StopCause.LEASE_LOST)
    attempt.stop(StopCause.SHUTDOWN)
    assert attempt.lost
    assert work.stops == [StopCause.CANCELLED, StopCause.LEASE_LOST]


async def test_one_whose_result_is_on_its_way_runs_no_more() -> None:
    attempt = new_attempt()
    assert attempt.stoppable
    attempt.settling = True
    assert not attempt.stoppable


async def test_a_lost_attempt_writes_no_progress_and_asks_nobody() -> None:
    attempt = new_attempt()
    attempt.stop(StopCause.LEASE_LOST)
    with pytest.raises(LeaseLost, match="no longer holds its lease; nothing it writes is accepted"):
        await attempt.write_progress(1)


async def test_executor_without_transactions_names_others() -> None:
    with pytest.raises(TransactionUnsupported, match="is not available in the by hand executor; use executor='async'"):
        await new_attempt().transaction()
