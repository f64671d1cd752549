"""`explain` for jobs in every state, on both stores."""

import asyncio
from typing import Any

import pytest

from hanbeon import App, Job, PermanentError
from hanbeon.errors import JobNotFound
from hanbeon.testing import TestKit


def _tasks(app: App) -> tuple[Any, Any, asyncio.Event]:
    gate = asyncio.Event()

    @app.task
    async def work(fail: bool = False) -> None:
        if fail:
            raise PermanentError("on purpose")

    @app.task
    async def hold() -> None:
        await gate.wait()

    return work, hold, gate


async def _codes(kit: TestKit, job: Job[Any]) -> list[str]:
    explanation = await kit.app.explain(job)
    assert explanation.runnable == ([reason.code for reason in explanation.reasons] == ["next_in_line"])
    assert all(reason.text for reason in explanation.reasons)
    return [reason.code for reason in explanation.reasons]


async def test_a_ready_job_is_next_in_line_once_a_worker_has_its_task(kit: TestKit) -> None:
    work, _, _ = _tasks(kit.app)
    job = await kit.app.enqueue(work)
    assert await _codes(kit, job) == ["no_worker"]
    await kit.worker.register()
    assert await _codes(kit, job) == ["next_in_line"]
    await kit.tick()
    assert await _codes(kit, job) == ["finished"]


async def test_dependencies_and_who_blocks(kit: TestKit) -> None:
    work, _, _ = _tasks(kit.app)
    await kit.worker.register()
    first, second = work.call(fail=True), work.call()
    third = work.call().set(after=[first, second])
    jobs = await kit.app.enqueue_many([first, second, third])
    await kit.app.pause("default")
    assert await _codes(kit, jobs[2]) == ["dependency", "paused"]
    await kit.app.resume("default")
    await kit.tick()
    explanation = await kit.app.explain(jobs[2])
    assert [(reason.code, reason.details) for reason in explanation.reasons] == [
        ("blocked", {"blocked_by": [jobs[0].id]})
    ]


async def test_the_time_of_a_delay_and_of_a_retry(kit: TestKit) -> None:
    @kit.app.task(retry_delay=60)
    async def flaky() -> None:
        raise ValueError("again")

    await kit.worker.register()
    job = await kit.app.enqueue(flaky, delay=10)
    assert await _codes(kit, job) == ["run_at"]
    await kit.advance(10)
    await kit.tick()
    assert await _codes(kit, job) == ["retry_time"]


@pytest.mark.parametrize(
    ("limits", "options", "full"),
    [
        ({"max_concurrent": 1}, {}, ("queue_full", {"queue": "default"})),
        ({"roles": {"FE": 1}}, {"role": "FE"}, ("role_full", {"role": "FE"})),
        ({"max_per_key": 1}, {"concurrency_key": "customer 7"}, ("key_full", {"key": "customer 7"})),
    ],
)
async def test_full_slots_and_their_holders(
    kit: TestKit, limits: dict[str, Any], options: dict[str, Any], full: tuple[str, dict[str, str]]
) -> None:
    _, hold, gate = _tasks(kit.app)
    await kit.app.configure_queue("default", **limits)
    holder = await kit.app.enqueue(hold, **options)
    waiting = await kit.app.enqueue(hold, **options)
    await kit.start_ready()
    assert await _codes(kit, holder) == ["running"]
    (reason,) = (await kit.app.explain(waiting)).reasons
    assert (reason.code, reason.details) == (full[0], {**full[1], "limit": 1, "holders": [holder.id]})
    await holder.cancel()
    assert await _codes(kit, holder) == ["stopping"]
    gate.set()
    await kit.settle()


async def _end(kit: TestKit, job: Job[Any]) -> tuple[str, dict[str, Any]]:
    explanation = await kit.app.explain(job)
    (reason,) = explanation.reasons
    assert (explanation.runnable, reason.code) == (False, "finished")
    return reason.text, reason.details


async def test_a_failed_job_says_why_it_failed_and_what_to_do(kit: TestKit) -> None:
    @kit.app.task(retries=1, retry_delay=0)
    async def flaky(permanent: bool) -> None:
        raise (PermanentError if permanent else ValueError)("the disk is full")

    tried, hopeless = await kit.app.enqueue(flaky.call(False)), await kit.app.enqueue(flaky.call(True))
    await kit.run_all()
    await kit.advance(90)
    text, details = await _end(kit, tried)
    assert text == (
        "It has ended: failed. Attempt 2, after 1 of 1 retries, failed 1m30s ago: error: ValueError: the disk is full. "
        "No retry is left: fix the cause, then retry it."
    )
    assert "the disk is full" in details.pop("traceback")
    assert details == {
        "exception": "ValueError",
        "state": "failed",
        "finished_at": (await tried.record()).finished_at,
        "failure_type": "error",
        "error_message": "ValueError: the disk is full",
        "attempt": 2,
        "retry_count": 1,
        "max_retries": 1,
    }
    text, details = await _end(kit, hopeless)
    assert "Attempt 1, after 0 of 1 retries, failed 1m30s ago: error: the disk is full." in text
    assert "A failure like this is not retried by itself: fix the cause, then retry it." in text


async def test_a_job_that_failed_with_another_says_with_which(kit: TestKit) -> None:
    work, _, _ = _tasks(kit.app)
    first = work.call(fail=True)
    second = work.call().set(after=[first], on_dependency_failure="fail")
    cause, behind = await kit.app.enqueue_many([first, second])
    await kit.run_all()
    text, details = await _end(kit, behind)
    assert f"with what it depends on, {cause.id}: retry that first, then it." in text
    assert (details["failure_type"], details["blocked_by"], details["attempt"]) == ("dependency_failed", [cause.id], 0)
    await kit.app.retry(cause)
    text, details = await _end(kit, behind)
    assert "retried or deleted since: retry it, too." in text
    assert details["blocked_by"] == []


async def test_a_cancelled_job_says_when_it_was(kit: TestKit) -> None:
    _, hold, _ = _tasks(kit.app)

    @kit.app.task(retry_delay=60)
    async def flaky() -> None:
        raise ValueError("again")

    running, tried = await kit.app.enqueue(hold), await kit.app.enqueue(flaky)
    await kit.start_ready()
    early, unique = await kit.app.enqueue(hold), await kit.app.enqueue(hold, unique_key="one")
    for job in (running, early, unique):
        await job.cancel()
    await kit.settle()
    await tried.cancel()
    text, details = await _end(kit, running)
    assert text.startswith("It has ended: cancelled. It was cancelled while attempt 1 ran, and had stopped ")
    assert (details["state"], details["attempt"], details["failure_type"]) == ("cancelled", 1, None)
    text, _ = await _end(kit, early)
    assert text.startswith("It has ended: cancelled. It was cancelled ")
    assert text.endswith(" ago, before it ran. Retry it to run it after all.")
    text, details = await _end(kit, unique)
    assert text.startswith("It has ended: cancelled. It was cancelled ")
    assert "replaced" not in text
    assert "replaced_by" not in details
    text, _ = await _end(kit, tried)
    assert "after attempt 1, which had failed: error: ValueError: again. Retry it to run it after all." in text


async def test_a_replaced_job_says_by_which(kit: TestKit) -> None:
    work, _, _ = _tasks(kit.app)
    old = await kit.app.enqueue(work, unique_key="one")
    heir = await kit.app.enqueue(work.call().set(unique_key="one", on_conflict="replace_pending"))
    text, details = await _end(kit, old)
    assert text.startswith("It has ended: cancelled. It was replaced ")
    assert (
        f" ago by job {heir.id}, which has its unique key. Once that has ended, retry it to run it after all." in text
    )
    assert (details["replaced_by"], details["attempt"]) == (heir.id, 0)

    await heir.cancel()
    await kit.app.retry(old)
    await old.cancel()
    text, details = await _end(kit, old)
    assert "replaced" not in text
    assert "replaced_by" not in details, "that was its end before"


async def test_long_message_is_complete_only_in_the_details(kit: TestKit) -> None:
    job = await kit.make_job(state="failed", message="much " * 500)
    text, details = await _end(kit, job)
    assert len(text) < 1_000
    assert details["error_message"].strip() == ("much " * 500).strip()


async def test_an_unknown_job(kit: TestKit) -> None:
    with pytest.raises(JobNotFound):
        await kit.app.explain("01a1e16d-fbd5-76a4-8080-8fc50bd2a58d")
