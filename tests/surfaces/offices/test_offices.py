"""Offices themselves: create, list, change and delete."""

import asyncio
from typing import Any

import asyncpg
import pytest

from hanbeon import App
from hanbeon.errors import Changed, Conflict, InvalidInput, JobNotFound, OfficeNotFound, UnknownTask
from tests.databases.locks import somebody_waits
from tests.surfaces.offices.office_kit import SESSIONS, OfficeKit, add_tasks

HOSTILE = ["", "x", "' OR 1=1 --", "\x00", "가" * 5_000, "00000000-0000-0000-0000-00000000000", "\ud800", "{}"]
MISSING = "00000000-0000-7000-8000-000000000000"


async def test_an_office_is_made_with_all_that_is_said_of_it(office: OfficeKit) -> None:
    created = await office.offices.create(
        name="서울",
        config={"maxConcurrentJobs": 5, "maxConcurrentByRole": {"FE": 2, "BE": None}},
        sessions={"default": "work", "FE": "hold"},
        notifications=["mailto://someone@example.org"],
        webhooks=[{"url": "https://example.org/hook", "secret": "s3cret" * 6, "events": ["job_failed"]}],
    )
    assert created == await office.offices.get(created.id)
    assert (created.name, created.sessions, created.version) == ("서울", {"default": "work", "FE": "hold"}, 1)
    assert created.config.maxConcurrentByRole == {"FE": 2, "QA": 1, "DevOps": 1}
    assert created.created_at.endswith("+09:00")
    assert "s3cret" not in str(created)
    (queue,) = [each for each in await office.kit.app.queues() if each.name == f"office:{created.id}"]
    assert (queue.limits.max_concurrent, queue.limits.roles) == (5, {"FE": 2, "QA": 1, "DevOps": 1})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "x", "nmae": "y"}, "nmae"),
        ({"name": "x", "sessions": {"FE": "nobody's"}}, "sessions.FE"),
        ({"name": "x", "notifications": ["mailto://\ud800"]}, "notifications[0]"),
        ({"name": "x", "webhooks": [{"url": "ftp://x", "secret": "s"}]}, "webhooks[0].url"),
    ],
)
async def test_create_rejects_invalid_offices(office: OfficeKit, body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await office.offices.create(**body)
    assert refusal.value.field == field
    assert len((await office.offices.list()).items) == 1


async def test_offices_are_listed_page_by_page(office: OfficeKit) -> None:
    made = [office.id] + [(await office.offices.create(name=str(n))).id for n in range(4)]
    found, cursor = [], None
    while True:
        page = await office.offices.list(cursor=cursor, limit=2)
        found += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == sorted(made)
    with pytest.raises(InvalidInput):
        await office.offices.list(cursor="x")


async def test_a_change_changes_what_it_names(office: OfficeKit) -> None:
    await office.offices.change(office.id, sessions={"FE": "hold"}, notifications=["json://x"])
    after = await office.offices.change(office.id, name="new", sessions={"FE": None, "BE": "fail"})
    assert (after.name, after.sessions) == ("new", {"default": "work", "BE": "fail"})
    assert (after.notifications, after.version) == (["json://x"], 3)
    after = await office.offices.change(office.id, sessions=None, notifications=None)
    assert (after.sessions, after.notifications, after.name) == ({}, [], "new")
    with pytest.raises(UnknownTask):
        await office.offices.change(office.id, name="newer", sessions={"FE": "nobody's"})
    assert (await office.offices.get(office.id)).name == "new"


async def test_change_merges_a_config_like_change_config(office: OfficeKit) -> None:
    await office.offices.change_config(office.id, maxRetries=5, maxConcurrentByRole={"QA": None})
    config = {"maxConcurrentJobs": 7, "maxConcurrentByRole": {"FE": 2}}
    after = await office.offices.change(office.id, name="new", config=config)
    assert (after.name, after.version, after.config) == ("new", 3, (await office.offices.config(office.id)).config)
    assert (after.config.maxConcurrentJobs, after.config.maxRetries) == (7, 5)
    assert after.config.maxConcurrentByRole == {"FE": 2, "BE": 1, "DevOps": 1}
    (queue,) = [each for each in await office.kit.app.queues() if each.name == f"office:{office.id}"]
    assert (queue.limits.max_concurrent, queue.limits.roles) == (7, {"FE": 2, "BE": 1, "DevOps": 1})
    with pytest.raises(InvalidInput) as refusal:
        await office.offices.change(office.id, name="newer", config={"maxConcurrentJobs": 0})
    assert refusal.value.field == "config.maxConcurrentJobs"
    assert await office.offices.get(office.id) == after


async def test_a_change_of_something_that_has_changed_since_is_refused(office: OfficeKit) -> None:
    seen = await office.offices.config(office.id)
    changed = await office.offices.change_config(office.id, maxRetries=5, expected=seen.version)
    assert (changed.version, changed.config.maxRetries) == (seen.version + 1, 5)
    with pytest.raises(Changed, match="version 2, not 1"):
        await office.offices.change_config(office.id, maxRetries=6, expected=seen.version)
    with pytest.raises(Changed):
        await office.offices.change(office.id, name="x", expected=seen.version)
    assert await office.offices.config(office.id) == changed


async def test_a_refused_config_changes_neither_office_nor_queue(office: OfficeKit) -> None:
    before = await office.kit.app.queues()
    with pytest.raises(InvalidInput):
        await office.offices.change_config(office.id, maxConcurrentJobs=9, maxRetries=-1)
    assert (await office.offices.config(office.id)).config.maxConcurrentJobs == 3
    assert await office.kit.app.queues() == before


async def test_an_office_with_unfinished_jobs_is_not_deleted(office: OfficeKit) -> None:
    job = await office.one()
    with pytest.raises(Conflict, match="unfinished"):
        await office.offices.delete(office.id)
    assert await office.status(job) == ["ready"]
    await office.kit.run_all()
    await office.offices.delete(office.id)
    with pytest.raises(OfficeNotFound):
        await office.offices.get(office.id)
    with pytest.raises(OfficeNotFound):
        await office.offices.job(office.id, job.id)
    with pytest.raises(OfficeNotFound):
        await office.offices.delete(office.id)


async def test_deleting_an_office_may_cancel_its_jobs_first(office: OfficeKit) -> None:
    waiting, running = await office.make({"depends_on": ["b"]}, {"key": "b", "handler": "hold"})
    await office.kit.start_ready()
    await office.offices.delete(office.id, cancel=True)
    await office.kit.settle()
    assert [(await office.record(job)).state for job in (waiting, running)] == ["cancelled", "cancelled"]


async def test_jobs_of_a_deleted_office_are_not_retried(office: OfficeKit) -> None:
    """Nothing could be seen of them, and their queue goes with the retention."""
    app = office.kit.app
    failed, behind, other = await office.make(
        {"key": "a", "handler": "fail", "max_retries": 0}, {"depends_on": ["a"]}, {}
    )
    await office.kit.run_all()
    await office.offices.delete(office.id, cancel=True)
    kept = await app.enqueue("fail", {"permanent": True})
    await office.kit.run_all()
    for job in (failed, behind):
        with pytest.raises(Conflict, match="an office that was deleted"):
            await app.engine.retry(job.id)
        with pytest.raises(Conflict, match="an office that was deleted"):
            await app.retry(job.id)
    await office.kit.advance(1)  # A bulk move leaves alone what has ended since it began.
    done = await app.engine.bulk(action="retry", filter={})
    assert done.ids == [kept.id]
    states = [(await office.record(job)).state for job in (failed, behind, other)]
    assert states == ["failed", "cancelled", "succeeded"]


@pytest.mark.parametrize("bulk", [False, True])
async def test_retry_and_deletion_of_an_office_exclude_each_other(postgres_url: str, bulk: bool) -> None:
    app = App(postgres_url)
    await app.migrate()
    async with app:
        add_tasks(app)
        office = await app.offices.create(name="x", sessions=SESSIONS)
        (job,) = (await app.offices.create_jobs(office.id, jobs=[{}])).jobs
        await app.cancel(job.id)
        other = await asyncpg.connect(postgres_url)
        try:
            # Another retry of the job has begun before the deletion, and commits after it.
            async with other.transaction():
                await other.execute("SELECT 1 FROM hanbeon.queue WHERE name = $1 FOR SHARE", f"office:{office.id}")
                deletion = asyncio.create_task(app.offices.delete(office.id))
                assert await somebody_waits(postgres_url, deletion)
                await other.execute("UPDATE hanbeon.job SET state = 'ready', finished_at = NULL WHERE id = $1", job.id)
            with pytest.raises(Conflict, match="unfinished"):
                await deletion
            await app.cancel(job.id)
            # A deletion has begun before the retry.
            async with other.transaction():
                await other.execute("UPDATE hanbeon.queue SET left_at = 1 WHERE name = $1", f"office:{office.id}")
                retry: Any = app.engine.bulk(action="retry", filter={}) if bulk else app.engine.retry(job.id)
                retrying = asyncio.create_task(retry)
                assert await somebody_waits(postgres_url, retrying)
            if bulk:
                assert (await retrying).ids == []
            else:
                with pytest.raises(Conflict, match="was deleted"):
                    await retrying
        finally:
            await other.close()
        assert (await app.store.job(job.id)).state == "cancelled"


async def test_deleted_office_keeps_finished_jobs_for_the_retention(office: OfficeKit) -> None:
    job = await office.one()
    await office.kit.run_all()
    await office.offices.delete(office.id)
    assert (await office.record(job)).state == "succeeded"
    await office.kit.clock.advance(office.kit.app.settings.retention + 1)
    await office.kit.prune()
    with pytest.raises(JobNotFound):
        await office.record(job)


@pytest.mark.parametrize("wrong", [*HOSTILE, MISSING], ids=range(len(HOSTILE) + 1))
async def test_an_id_that_is_none_is_not_found(office: OfficeKit, wrong: str) -> None:
    offices, job = office.offices, await office.one()
    for asked in (
        lambda: offices.get(wrong),
        lambda: offices.change(wrong, name="x"),
        lambda: offices.delete(wrong),
        lambda: offices.config(wrong),
        lambda: offices.change_config(
            wrong,
        ),
        lambda: offices.stats(wrong),
        lambda: offices.process(wrong),
        lambda: offices.create_jobs(wrong, jobs=[{}]),
        lambda: offices.jobs(wrong),
        lambda: offices.job(wrong, job.id),
        lambda: offices.cancel_all(wrong),
        lambda: offices.graph(wrong),
        lambda: offices.events(wrong),
    ):
        with pytest.raises(OfficeNotFound) as refusal:
            await asked()
        assert len(str(refusal.value)) < 200
    for of_job in (
        lambda: offices.job(office.id, wrong),
        lambda: offices.cancel(office.id, wrong),
        lambda: offices.retry(office.id, wrong),
        lambda: offices.reprioritise(office.id, wrong, priority=1),
        lambda: offices.log(office.id, wrong),
        lambda: offices.explain(office.id, wrong),
    ):
        with pytest.raises(JobNotFound) as missing:
            await of_job()
        assert len(str(missing.value)) < 200


async def test_a_job_of_another_office_or_of_none_is_not_found(office: OfficeKit) -> None:
    job = await office.one()
    plain = await office.kit.app.enqueue("work")
    other = await office.offices.create(name="other")
    for office_id, job_id in ((other.id, job.id), (office.id, plain.id)):
        for asked in (
            office.offices.job,
            office.offices.cancel,
            office.offices.retry,
            office.offices.log,
            office.offices.explain,
        ):
            with pytest.raises(JobNotFound):
                await asked(office_id, job_id)
        with pytest.raises(JobNotFound):
            await office.offices.reprioritise(office_id, job_id, urgent=True)
    assert (await office.offices.jobs(other.id)).items == []
    assert (await office.offices.cancel_all(other.id)).cancelled == []
    assert await office.status(job) == ["ready"]
