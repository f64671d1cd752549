"""Cancelling, retrying and moving jobs, and a scheduling cycle on demand."""

from typing import Any

import pytest

from hanbeon.errors import InvalidInput, WrongState
from hanbeon.surfaces.offices.service import Offices
from tests.surfaces.offices.office_kit import Desk

MANY = 3_000


async def test_a_waiting_job_is_cancelled_at_once_and_again(desk: Desk) -> None:
    job = await desk.one()
    for _ in range(2):
        answer = await desk.offices.cancel(desk.id, job.id)
        assert (answer.job.status, answer.stopping) == ("cancelled", False)
        assert (answer.job.cancelled_at is not None, answer.job.completed_at) == (True, None)


async def test_a_running_job_is_cancelled_when_its_work_has_stopped(desk: Desk) -> None:
    job = await desk.one(handler="stubborn")
    await desk.kit.start_ready()
    answer = await desk.offices.cancel(desk.id, job.id)
    assert (answer.job.status, answer.stopping) == ("processing", True)
    desk.gates.stop.set()
    await desk.kit.settle()
    answer = await desk.offices.cancel(desk.id, job.id)
    assert (answer.job.status, answer.stopping) == ("cancelled", False)


async def test_what_has_ended_is_not_cancelled(desk: Desk) -> None:
    done, failed = await desk.make({}, {"handler": "fail", "max_retries": 0})
    await desk.kit.run_all()
    for job, word in ((done, "done"), (failed, "failed")):
        with pytest.raises(WrongState, match=f"is {word}; only pending or ready or processing jobs"):
            await desk.offices.cancel(desk.id, job.id)


async def test_failed_and_cancelled_jobs_are_retried_with_all_their_retries(desk: Desk) -> None:
    failed, cancelled = await desk.make({"handler": "fail", "max_retries": 1}, {"depends_on": []})
    await desk.offices.cancel(desk.id, cancelled.id)
    await desk.kit.run_all()
    again = await desk.offices.retry(desk.id, failed.id)
    assert (again.status, again.retry_count, again.error_message) == ("ready", 0, None)
    assert (await desk.offices.retry(desk.id, cancelled.id)).status == "ready"
    await desk.kit.run_all()
    found = await desk.job(failed)
    assert [each.attempt for each in found.executions] == [1, 2, 3, 4]
    assert (await desk.job(cancelled)).status == "done"


async def test_other_jobs_are_not_retried(desk: Desk) -> None:
    job = await desk.one()
    with pytest.raises(WrongState, match="is ready; only failed or cancelled jobs can be retried"):
        await desk.offices.retry(desk.id, job.id)
    await desk.kit.run_all()
    with pytest.raises(WrongState, match="is done"):
        await desk.offices.retry(desk.id, job.id)


async def test_what_waits_for_a_retried_job_goes_on(desk: Desk) -> None:
    first, behind = await desk.make({"key": "a"}, {"depends_on": ["a"]})
    await desk.offices.cancel(desk.id, first.id)
    assert (await desk.job(behind)).blocked_by == [first.id]
    await desk.offices.retry(desk.id, first.id)
    await desk.kit.run_all()
    assert await desk.status(first, behind) == ["done", "done"]


async def test_a_job_may_fail_with_what_it_waits_for(desk: Desk) -> None:
    first, behind = await desk.make({"key": "a"}, {"depends_on": ["a"], "on_dependency_failure": "fail"})
    await desk.offices.cancel(desk.id, first.id)
    found = await desk.job(behind)
    assert (found.status, found.failure_type) == ("failed", "dependency_failed")


@pytest.mark.parametrize(
    "told", [{}, None, {"priority": None}, {"priority": "1"}, {"priority": 2**31}, {"urgent": 1}, {"prio": 1}]
)
async def test_a_priority_that_does_not_fit_is_refused(desk: Desk, told: Any) -> None:
    job = await desk.one()
    with pytest.raises(InvalidInput):
        await desk.offices.reprioritise(desk.id, job.id, told)
    await desk.offices.cancel(desk.id, job.id)
    with pytest.raises(WrongState, match="is cancelled; only pending or ready or processing"):
        await desk.offices.reprioritise(desk.id, job.id, {"priority": 1})


async def test_many_jobs_are_cancelled_at_once(desk: Desk) -> None:
    jobs = await desk.make(*({"role": "QA" if n % 3 else "FE", "task_id": "T" if n % 2 else None} for n in range(MANY)))
    chosen = [job.id for job in jobs if job.role == "QA" and job.task_id == "T"]
    assert (await desk.offices.cancel_all(desk.id, {"role": "QA", "task_id": "T"})).cancelled == chosen
    rest = [job.id for job in jobs if job.id not in set(chosen)]
    assert (await desk.offices.cancel_all(desk.id)).cancelled == rest
    assert (await desk.offices.cancel_all(desk.id)).cancelled == []
    assert (await desk.offices.stats(desk.id)).cancelled == MANY


async def test_cancelling_by_status_takes_only_those(desk: Desk) -> None:
    late, running, waiting = await desk.make(
        {"handler": "stubborn", "timeout_ms": 1_000}, {"handler": "hold"}, {"depends_on": [], "priority": 9}
    )
    await desk.offices.change_config(desk.id, {"maxConcurrentJobs": 2})
    await desk.kit.start_ready()
    await desk.kit.advance(2)
    assert await desk.status(late, running, waiting) == ["timeout", "processing", "ready"]
    cancel_all = desk.offices.cancel_all
    assert (await cancel_all(desk.id, {"statuses": []})).cancelled == []
    assert (await cancel_all(desk.id, {"statuses": ["pending"]})).cancelled == []
    assert (await cancel_all(desk.id, {"statuses": ["timeout"]})).cancelled == [late.id]
    assert (await cancel_all(desk.id, {"statuses": ["processing", "ready"]})).cancelled == [running.id, waiting.id]
    refused: list[Any] = [{"statuses": ["done"]}, {"statuses": "ready"}, {"status": ["ready"]}, {"role": 5}, []]
    for wrong in refused:
        with pytest.raises(InvalidInput):
            await cancel_all(desk.id, wrong)
    desk.gates.stop.set()


async def test_a_cycle_activates_and_starts_what_it_can_now(desk: Desk) -> None:
    retried = await desk.one(handler="fail")
    await desk.kit.tick()
    await desk.kit.clock.advance(60)
    held = await desk.make(*({"handler": "hold"} for _ in range(4)))
    done = await desk.offices.process(desk.id)
    assert (done.activated, done.started, done.available_slots) == (1, 3, 0)
    assert (await desk.status(*held)).count("processing") >= 2
    assert (await desk.job(retried)).retry_count == 1


async def test_without_a_worker_a_cycle_wakes_others_and_starts_nothing(desk: Desk) -> None:
    job = await desk.one()
    done = await Offices(desk.kit.app).process(desk.id)
    assert (done.activated, done.started, done.available_slots) == (0, 0, 3)
    assert await desk.status(job) == ["ready"]


async def test_a_cycle_of_one_office_counts_no_others_jobs(desk: Desk) -> None:
    await desk.one(handler="hold")
    other = await desk.offices.create({"name": "other"})
    done = await desk.offices.process(other.id)
    assert (done.started, done.available_slots) == (0, 3)
    assert len(desk.kit.worker.attempts) == 1
