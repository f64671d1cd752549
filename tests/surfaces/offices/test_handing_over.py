"""Jobs that wait without a handler get one when the sessions name it."""

import pytest

from hanbeon.domain.job import NO_HANDLER
from tests.surfaces.offices.office_kit import OfficeKit


@pytest.fixture
async def idle(office: OfficeKit) -> OfficeKit:
    """An office without any handler in its sessions."""
    await office.open(sessions={})
    return office


async def test_waiting_jobs_get_their_handler_and_run(idle: OfficeKit) -> None:
    first, behind = await idle.make({"key": "a", "role": "FE"}, {"depends_on": ["a"]})
    await idle.kit.tick()
    await idle.offices.change(idle.id, sessions={"FE": "work"})
    assert [(await idle.record(job)).task for job in (first, behind)] == ["work", NO_HANDLER]
    assert (await idle.job(first)).role == "FE"
    await idle.kit.run_all()
    assert await idle.status(first, behind) == ["done", "ready"]
    await idle.offices.change(idle.id, sessions={"default": "work"})
    await idle.kit.run_all()
    assert await idle.status(first, behind) == ["done", "done"]
    assert (await idle.offices.stats(idle.id)).done == 2


async def test_late_handler_still_sets_timeout_and_retries(idle: OfficeKit) -> None:
    @idle.kit.app.task(timeout=7, retries=9)
    async def particular() -> None: ...

    plain, own = await idle.make({"role": "QA"}, {"timeout_ms": 1_000, "max_retries": 1})
    await idle.offices.change(idle.id, sessions={"default": "particular"})
    for job, timeout_us, retries in ((plain, 7_000_000, 9), (own, 1_000_000, 1)):
        record = await idle.record(job)
        assert (record.task, record.timeout_us, record.policy.max_retries) == ("particular", timeout_us, retries)


async def test_job_with_a_handler_keeps_it(idle: OfficeKit) -> None:
    job = await idle.one(handler="hold")
    await idle.offices.change(idle.id, sessions={"default": "work"})
    assert (await idle.record(job)).task == "hold"


async def test_a_cancelled_job_gets_its_handler_when_it_is_retried(idle: OfficeKit) -> None:
    job = await idle.one()
    await idle.offices.cancel(idle.id, job.id)
    await idle.offices.change(idle.id, sessions={"default": "work"})
    assert (await idle.record(job)).task == NO_HANDLER
    await idle.offices.retry(idle.id, job.id)
    await idle.kit.run_all()
    assert await idle.status(job) == ["done"]


async def test_handler_gets_no_jobs_of_a_role_it_does_not_serve(idle: OfficeKit) -> None:
    @idle.kit.app.task(roles=["FE"])
    async def frontend() -> None: ...

    fitting, other = await idle.make({"role": "FE"}, {"role": "BE"})
    await idle.offices.change(idle.id, sessions={"default": "frontend"})
    assert [(await idle.record(job)).task for job in (fitting, other)] == ["frontend", NO_HANDLER]


async def test_another_offices_jobs_are_left_alone(idle: OfficeKit) -> None:
    theirs = await idle.one()
    await idle.open(sessions={})
    mine = await idle.one()
    await idle.offices.change(idle.id, sessions={"default": "work"})
    assert (await idle.record(mine)).task == "work"
    assert (await idle.record(theirs)).task == NO_HANDLER


async def test_thousands_are_handed_over_at_once_in_their_order(idle: OfficeKit) -> None:
    await idle.offices.change_config(idle.id, maxConcurrentJobs=1)
    await idle.make(*({"role": "FE" if n % 2 else "BE", "priority": -n // 1_000} for n in range(2_500)))
    await idle.offices.change(idle.id, sessions={"FE": "work", "BE": "hold"})
    counts = {task: len(await idle.kit.app.jobs(task=task, limit=5_000)) for task in ("work", "hold", NO_HANDLER)}
    assert counts == {"work": 1_250, "hold": 1_250, NO_HANDLER: 0}
    (first,) = await idle.kit.start_ready()
    assert (await first.record()).priority == -3
