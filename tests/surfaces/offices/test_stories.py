"""The user stories of the seed, one acceptance criterion after the other."""

import pytest

from hanbeon.domain.outcome import TIMEOUT_MESSAGE
from hanbeon.errors import DependencyCycle
from tests.surfaces.offices.office_kit import OfficeKit

MINUTE = 60


# US-JS01: jobs become ready by their dependencies


async def test_us_js01_a_job_without_dependencies_is_ready_at_once(office: OfficeKit) -> None:
    assert (await office.one(key="a")).status == "ready"


async def test_us_js01_job_becomes_ready_when_its_dependency_is_done(office: OfficeKit) -> None:
    first, second = await office.make({"key": "a", "handler": "hold"}, {"key": "b", "depends_on": ["a"]})
    assert await office.status(first, second) == ["ready", "pending"]
    await office.kit.start_ready()
    assert await office.status(first, second) == ["processing", "pending"]
    office.gates.hold.set()
    await office.kit.settle()
    assert await office.status(first, second) == ["done", "ready"]


async def test_us_js01_all_of_depends_on_must_be_done(office: OfficeKit) -> None:
    one, two, behind = await office.make(
        {"key": "a"}, {"key": "b", "handler": "fail", "max_retries": 0}, {"depends_on": ["a", "b"]}
    )
    await office.kit.run_all()
    assert await office.status(one, two, behind) == ["done", "failed", "pending"]
    assert (await office.job(behind)).blocked_by == [two.id]


async def test_us_js01_a_cycle_is_refused_with_its_jobs(office: OfficeKit) -> None:
    refusal = await office.refused(
        DependencyCycle,
        {"key": "a", "depends_on": ["c"]},
        {"key": "b", "depends_on": ["a"]},
        {"key": "c", "depends_on": ["b"]},
        {"key": "free"},
    )
    assert isinstance(refusal, DependencyCycle)
    assert sorted(refusal.ids) == ["a", "b", "c"]


# US-JS02: how many run at once


async def test_us_js02_three_jobs_of_an_office_run_at_once_by_default(office: OfficeKit) -> None:
    jobs = await office.make(*({"handler": "hold"} for _ in range(5)))
    await office.kit.start_ready()
    assert await office.status(*jobs) == ["processing"] * 3 + ["ready"] * 2


async def test_us_js02_what_is_over_the_limit_waits_its_turn(office: OfficeKit) -> None:
    await office.offices.change_config(office.id, maxConcurrentJobs=1)
    first, second = await office.make({"handler": "hold"}, {"handler": "hold"})
    await office.kit.start_ready()
    assert await office.status(first, second) == ["processing", "ready"]
    office.gates.hold.set()
    await office.kit.settle()
    await office.kit.tick()
    assert await office.status(first, second) == ["done", "done"]


async def test_us_js02_a_role_has_a_limit_of_its_own(office: OfficeKit) -> None:
    jobs = await office.make(*({"handler": "hold", "role": role} for role in ("FE", "FE", "BE", "PO")))
    await office.kit.start_ready()
    assert await office.status(*jobs) == ["processing", "ready", "processing", "processing"]
    await office.offices.change_config(office.id, maxConcurrentJobs=10, maxConcurrentByRole={"FE": None})
    await office.kit.start_ready()
    assert await office.status(*jobs) == ["processing"] * 4


async def test_us_js02_the_next_to_run_is_chosen_by_priority(office: OfficeKit) -> None:
    await office.offices.change_config(office.id, maxConcurrentJobs=1)
    await office.make(*({"args": {"name": str(priority)}, "priority": priority} for priority in (3, 1, 2)))
    await office.kit.run_all()
    assert office.gates.ran == ["1", "2", "3"]


# US-JS03: timeouts


async def test_us_js03_a_job_has_half_an_hour_unless_it_says_otherwise(office: OfficeKit) -> None:
    usual, own = await office.make({}, {"timeout_ms": 5_000})
    assert (usual.timeout_ms, own.timeout_ms) == (30 * 60_000, 5_000)


async def test_us_js03_a_job_that_times_out_for_good_has_failed(office: OfficeKit) -> None:
    job = await office.one(handler="hold", max_retries=0)
    await office.kit.start_ready()
    await office.kit.advance(30 * MINUTE - 1)
    assert await office.status(job) == ["processing"]
    await office.kit.advance(2)
    await office.kit.settle()
    found = await office.job(job)
    assert (found.status, found.failure_type, found.error_message) == ("failed", "timeout", TIMEOUT_MESSAGE)
    assert [(each.status.value, each.error_message) for each in found.executions] == [("timeout", TIMEOUT_MESSAGE)]


async def test_us_js03_the_running_session_is_signalled_to_stop(office: OfficeKit) -> None:
    job = await office.one(handler="stubborn", timeout_ms=10_000)
    await office.kit.start_ready()
    await office.kit.advance(11)
    assert await office.status(job) == ["timeout"]
    assert (await office.offices.stats(office.id)).processing == 1
    for word, found in (("timeout", [job.id]), ("processing", [])):
        assert [each.id for each in (await office.offices.jobs(office.id, status=word)).items] == found
    office.gates.stop.set()
    await office.kit.settle()
    assert await office.status(job) == ["pending"]


async def test_us_js03_timeout_event_comes_before_the_outcome(office: OfficeKit) -> None:
    job = await office.one(handler="hold", max_retries=1, timeout_ms=10_000)
    for _ in range(2):
        await office.kit.start_ready()
        await office.kit.advance(11)
        await office.kit.settle()
        await office.kit.advance(MINUTE)
    assert await office.types(job) == [
        "job_ready",
        "job_started",
        "job_timeout",
        "job_retrying",
        "job_ready",
        "job_started",
        "job_timeout",
        "job_failed",
    ]


# US-JS04: retries


async def test_us_js04_a_job_is_tried_three_times_by_default(office: OfficeKit) -> None:
    job = await office.one(handler="fail")
    await office.kit.run_all()
    found = await office.job(job)
    assert (found.status, found.retry_count, len(found.executions)) == ("failed", 2, 3)


async def test_us_js04_retries_come_after_one_two_and_four_minutes(office: OfficeKit) -> None:
    job = await office.one(handler="fail", max_retries=3)
    for minutes in (1, 2, 4):
        assert await office.kit.tick() == 1
        await office.kit.advance(minutes * MINUTE - 1)
        assert await office.kit.tick() == 0
        await office.kit.advance(1)
    await office.kit.tick()
    assert await office.status(job) == ["failed"]


@pytest.mark.parametrize(
    ("failure_type", "attempts"),
    [("session_error", 3), ("error", 3), ("git_conflict", 1), ("permission_error", 1), ("dependency_failed", 1)],
)
async def test_us_js04_only_some_failures_are_tried_again(office: OfficeKit, failure_type: str, attempts: int) -> None:
    job = await office.one(handler="fail", args={"failure_type": failure_type})
    await office.kit.run_all()
    found = await office.job(job)
    assert (found.status, found.failure_type, len(found.executions)) == ("failed", failure_type, attempts)
    sessions = {each.session_id for each in found.executions}
    assert len(sessions) == attempts


async def test_us_js04_only_a_permanent_failure_is_reported_as_one(office: OfficeKit) -> None:
    job = await office.one(handler="fail", max_retries=1)
    await office.kit.run_all()
    assert [kind for kind in await office.types(job) if kind in ("job_failed", "job_retrying")] == [
        "job_retrying",
        "job_failed",
    ]


# US-JS05: priorities


async def test_us_js05_lower_priority_runs_first_then_the_older(office: OfficeKit) -> None:
    await office.offices.change_config(office.id, maxConcurrentJobs=1)
    await office.make(
        *({"args": {"name": name}, "priority": int(name[1:])} for name in ("a5", "b-1", "c5", "d0", "e0"))
    )
    await office.kit.run_all()
    assert office.gates.ran == ["b-1", "d0", "e0", "a5", "c5"]


async def test_us_js05_an_urgent_job_runs_before_all_others(office: OfficeKit) -> None:
    await office.offices.change_config(office.id, maxConcurrentJobs=1)
    await office.make(
        {"args": {"name": "first"}, "priority": -100}, {"args": {"name": "urgent"}, "priority": 9, "urgent": True}
    )
    await office.kit.run_all()
    assert office.gates.ran == ["urgent", "first"]


async def test_us_js05_priorities_can_be_changed_while_a_job_waits(office: OfficeKit) -> None:
    await office.offices.change_config(office.id, maxConcurrentJobs=1)
    _, second, third = await office.make(*({"args": {"name": name}} for name in "abc"))
    assert (await office.offices.reprioritise(office.id, second.id, priority=-1)).priority == -1
    assert (await office.offices.reprioritise(office.id, third.id, urgent=True)).urgent
    await office.kit.run_all()
    assert office.gates.ran == ["c", "b", "a"]


# US-JS06: cancelling many


async def test_us_js06_everything_that_waits_in_an_office_is_cancelled(office: OfficeKit) -> None:
    waiting = await office.make({"key": "a"}, {"depends_on": ["a"]})
    answer = await office.offices.cancel_all(office.id, statuses=["pending", "ready"])
    assert answer.cancelled == [job.id for job in waiting]
    assert await office.status(*waiting) == ["cancelled", "cancelled"]
    assert all([(await office.job(job)).cancelled_at for job in waiting])


async def test_us_js06_all_jobs_of_one_task_are_cancelled_and_no_other(office: OfficeKit) -> None:
    of_it, other = await office.make({"task_id": "T-1"}, {"task_id": "T-2"})
    assert (await office.offices.cancel_all(office.id, task_id="T-1")).cancelled == [of_it.id]
    assert await office.status(of_it, other) == ["cancelled", "ready"]


async def test_us_js06_what_runs_is_stopped_and_then_cancelled(office: OfficeKit) -> None:
    job = await office.one(handler="hold")
    await office.kit.start_ready()
    assert (await office.offices.cancel_all(office.id)).cancelled == [job.id]
    assert await office.status(job) == ["processing"]
    await office.kit.settle()
    found = await office.job(job)
    assert (found.status, [each.status.value for each in found.executions]) == ("cancelled", ["cancelled"])
    assert (await office.types(job))[-1] == "job_cancelled"
