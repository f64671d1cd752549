"""Cancelling, retrying and moving jobs, and a scheduling cycle on demand."""

from typing import Any

import pytest

from hanbeon.errors import InvalidInput, WrongState
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.service import Offices
from tests.surfaces.offices.office_kit import OfficeKit

MANY = 3_000


async def test_a_waiting_job_is_cancelled_at_once_and_again(office: OfficeKit) -> None:
    job = await office.one()
    for _ in range(2):
        answer = await office.offices.cancel(office.id, job.id)
        assert (answer.job.status, answer.stopping) == ("cancelled", False)
        assert (answer.job.cancelled_at is not None, answer.job.completed_at) == (True, None)


async def test_a_running_job_is_cancelled_when_its_work_has_stopped(office: OfficeKit) -> None:
    job = await office.one(handler="stubborn")
    await office.kit.start_ready()
    answer = await office.offices.cancel(office.id, job.id)
    assert (answer.job.status, answer.stopping) == ("processing", True)
    office.gates.stop.set()
    await office.kit.settle()
    answer = await office.offices.cancel(office.id, job.id)
    assert (answer.job.status, answer.stopping) == ("cancelled", False)


async def test_cancel_rejects_finished_jobs(office: OfficeKit) -> None:
    done, failed = await office.make({}, {"handler": "fail", "max_retries": 0})
    await office.kit.run_all()
    for job, word in ((done, "done"), (failed, "failed")):
        with pytest.raises(WrongState, match=f"is {word}; only pending or ready or processing jobs"):
            await office.offices.cancel(office.id, job.id)


async def test_a_failed_job_is_marked_as_done_and_the_next_goes_on(office: OfficeKit) -> None:
    failed, then = await office.make(
        {"key": "a", "handler": "fail", "max_retries": 0}, {"key": "b", "depends_on": ["a"]}
    )
    await office.kit.run_all()
    assert (await office.job(then)).blocked_by == [failed.id]
    with pytest.raises(WrongState, match="is pending; only failed or cancelled jobs can be marked as done"):
        await office.offices.mark_done(office.id, then.id, comment="no")
    done = await office.offices.mark_done(office.id, failed.id, comment="Did it by hand.", result={"sha": "f00"})
    assert (done.status, done.result, done.error_message) == ("done", {"sha": "f00"}, None)
    await office.kit.run_all()
    assert (await office.job(then)).status == "done"
    found = await office.job(failed)
    assert [each.status for each in found.executions] == ["failed"]
    explained = (await office.offices.explain(office.id, failed.id)).reasons[0]
    assert explained["text"].startswith("It has ended: done. A program marked it as done")
    assert explained["comment"] == "Did it by hand."


async def test_retry_gives_failed_and_cancelled_jobs_all_retries(office: OfficeKit) -> None:
    failed, cancelled = await office.make({"handler": "fail", "max_retries": 1}, {"depends_on": []})
    await office.offices.cancel(office.id, cancelled.id)
    await office.kit.run_all()
    again = await office.offices.retry(office.id, failed.id)
    assert (again.status, again.retry_count, again.error_message) == ("ready", 0, None)
    assert (await office.offices.retry(office.id, cancelled.id)).status == "ready"
    await office.kit.run_all()
    found = await office.job(failed)
    assert [each.attempt for each in found.executions] == [1, 2, 3, 4]
    assert (await office.job(cancelled)).status == "done"


async def test_other_jobs_are_not_retried(office: OfficeKit) -> None:
    job = await office.one()
    with pytest.raises(WrongState, match="is ready; only failed or cancelled jobs can be retried"):
        await office.offices.retry(office.id, job.id)
    await office.kit.run_all()
    with pytest.raises(WrongState, match="is done"):
        await office.offices.retry(office.id, job.id)


async def test_dependents_of_a_retried_job_continue(office: OfficeKit) -> None:
    first, behind = await office.make({"key": "a"}, {"depends_on": ["a"]})
    await office.offices.cancel(office.id, first.id)
    assert (await office.job(behind)).blocked_by == [first.id]
    await office.offices.retry(office.id, first.id)
    await office.kit.run_all()
    assert await office.status(first, behind) == ["done", "done"]


async def test_a_job_may_fail_with_what_it_waits_for(office: OfficeKit) -> None:
    first, behind = await office.make({"key": "a"}, {"depends_on": ["a"], "on_dependency_failure": "fail"})
    await office.offices.cancel(office.id, first.id)
    found = await office.job(behind)
    assert (found.status, found.failure_type) == ("failed", "dependency_failed")


@pytest.mark.parametrize("body", [{}, {"priority": None}, {"priority": 2**31}])
async def test_rejects_invalid_priority(office: OfficeKit, body: Any) -> None:
    job = await office.one(priority=3)
    with pytest.raises(InvalidInput) as rejected:
        await office.offices.reprioritise(office.id, job.id, **body)
    assert (rejected.value.field, (await office.job(job)).priority) == ("priority", 3)
    await office.offices.cancel(office.id, job.id)
    with pytest.raises(WrongState, match="is cancelled; only pending or ready or processing"):
        await office.offices.reprioritise(office.id, job.id, priority=1)


async def test_many_jobs_are_cancelled_at_once(office: OfficeKit) -> None:
    jobs = await office.make(
        *({"role": "QA" if n % 3 else "FE", "task_id": "T" if n % 2 else None} for n in range(MANY))
    )
    chosen = [job.id for job in jobs if job.role == "QA" and job.task_id == "T"]
    assert (await office.offices.cancel_all(office.id, role="QA", task_id="T")).cancelled == chosen
    rest = [job.id for job in jobs if job.id not in set(chosen)]
    assert (await office.offices.cancel_all(office.id)).cancelled == rest
    assert (await office.offices.cancel_all(office.id)).cancelled == []
    assert (await office.offices.stats(office.id)).cancelled == MANY


async def test_cancel_all_is_bounded_and_says_if_more_match(office: OfficeKit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "CANCEL_MOST", 3)
    running = await office.make(*({"handler": "stubborn"} for _ in range(2)))
    await office.kit.start_ready()
    waiting = await office.make(*({} for _ in range(4)))
    ids = [job.id for job in waiting]
    answers = [await office.offices.cancel_all(office.id) for _ in range(3)]
    assert [(each.cancelled, each.more) for each in answers] == [
        (ids[1:], True),
        ([*(job.id for job in running), ids[0]], False),
        ([job.id for job in running], False),
    ]
    office.gates.stop.set()


async def test_jobs_being_stopped_do_not_hide_the_others(office: OfficeKit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "CANCEL_MOST", 2)
    await office.offices.change_config(office.id, maxConcurrentJobs=2)
    first, *stopping = await office.make({"priority": 9}, {"handler": "stubborn"}, {"handler": "stubborn"})
    await office.kit.start_ready()
    assert await office.status(first, *stopping) == ["ready", "processing", "processing"]
    answer = await office.offices.cancel_all(office.id)
    assert (answer.cancelled, answer.more) == ([job.id for job in stopping], True)
    answer = await office.offices.cancel_all(office.id)
    assert (answer.cancelled[0], answer.more) == (first.id, False)
    office.gates.stop.set()


async def test_invalid_filters_cancel_nothing(office: OfficeKit) -> None:
    job = await office.one()
    with pytest.raises(InvalidInput):
        await office.offices.cancel_all(office.id, statuses=["done"])
    assert await office.status(job) == ["ready"]


async def test_cancelling_by_status_takes_only_those(office: OfficeKit) -> None:
    late, running, waiting = await office.make(
        {"handler": "stubborn", "timeout_ms": 1_000}, {"handler": "hold"}, {"depends_on": [], "priority": 9}
    )
    await office.offices.change_config(office.id, maxConcurrentJobs=2)
    await office.kit.start_ready()
    await office.kit.advance(2)
    assert await office.status(late, running, waiting) == ["timeout", "processing", "ready"]
    cancel_all = office.offices.cancel_all
    assert (await cancel_all(office.id, statuses=[])).cancelled == []
    assert (await cancel_all(office.id, statuses=["pending"])).cancelled == []
    assert (await cancel_all(office.id, statuses=["timeout"])).cancelled == [late.id]
    assert (await cancel_all(office.id, statuses=["processing", "ready"])).cancelled == [running.id, waiting.id]
    office.gates.stop.set()


async def test_a_cycle_activates_and_starts_what_it_can_now(office: OfficeKit) -> None:
    retried = await office.one(handler="fail")
    await office.kit.tick()
    await office.kit.clock.advance(60)
    held = await office.make(*({"handler": "hold"} for _ in range(4)))
    done = await office.offices.process(office.id)
    assert (done.activated, done.started, done.available_slots) == (1, 3, 0)
    assert (await office.status(*held)).count("processing") >= 2
    assert (await office.job(retried)).retry_count == 1


async def test_cycle_without_a_worker_only_wakes_others(office: OfficeKit) -> None:
    job = await office.one()
    done = await Offices(office.kit.app).process(office.id)
    assert (done.activated, done.started, done.available_slots) == (0, 0, 3)
    assert await office.status(job) == ["ready"]


async def test_a_cycle_of_one_office_counts_no_others_jobs(office: OfficeKit) -> None:
    await office.one(handler="hold")
    other = await office.offices.create(name="other")
    done = await office.offices.process(other.id)
    assert (done.started, done.available_slots) == (0, 3)
    assert len(office.kit.worker.attempts) == 1
