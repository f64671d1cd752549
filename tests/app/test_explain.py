"""Why is my job not running? Asked of jobs in every plight, on both stores."""

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
    ("limits", "options", "code"),
    [
        ({"max_concurrent": 1}, {}, "queue_full"),
        ({"roles": {"FE": 1}}, {"role": "FE"}, "role_full"),
        ({"max_per_key": 1}, {"concurrency_key": "customer 7"}, "key_full"),
    ],
)
async def test_full_slots_and_their_holders(
    kit: TestKit, limits: dict[str, Any], options: dict[str, Any], code: str
) -> None:
    _, hold, gate = _tasks(kit.app)
    await kit.app.configure_queue("default", **limits)
    holder = await kit.app.enqueue(hold, **options)
    waiting = await kit.app.enqueue(hold, **options)
    await kit.start_ready()
    assert await _codes(kit, holder) == ["running"]
    (reason,) = (await kit.app.explain(waiting)).reasons
    assert (reason.code, reason.details) == (code, {"limit": 1, "holders": [holder.id]})
    await holder.cancel()
    assert await _codes(kit, holder) == ["stopping"]
    gate.set()
    await kit.settle()


async def test_an_unknown_job(kit: TestKit) -> None:
    with pytest.raises(JobNotFound):
        await kit.app.explain("01a1e16d-fbd5-76a4-8080-8fc50bd2a58d")
