"""Offices themselves: made, listed, changed and deleted."""

from typing import Any

import pytest

from hanbeon.errors import Changed, Conflict, InvalidInput, JobNotFound, OfficeNotFound, UnknownTask
from tests.surfaces.offices.office_kit import Desk

HOSTILE = ["", "x", "' OR 1=1 --", "\x00", "가" * 5_000, "00000000-0000-0000-0000-00000000000", "\ud800", "{}"]
MISSING = "00000000-0000-7000-8000-000000000000"


async def test_an_office_is_made_with_all_that_is_said_of_it(desk: Desk) -> None:
    office = await desk.offices.create(
        {
            "name": "서울",
            "config": {"maxConcurrentJobs": 5, "maxConcurrentByRole": {"FE": 2, "BE": None}},
            "sessions": {"default": "work", "FE": "hold"},
            "notifications": ["mailto://someone@example.org"],
            "webhooks": [{"url": "https://example.org/hook", "secret": "s3cret" * 6, "events": ["job_failed"]}],
        }
    )
    assert office == await desk.offices.get(office.id)
    assert (office.name, office.sessions, office.version) == ("서울", {"default": "work", "FE": "hold"}, 1)
    assert office.config.maxConcurrentByRole == {"FE": 2, "QA": 1, "DevOps": 1}
    assert office.created_at.endswith("+09:00")
    assert "s3cret" not in str(office)
    (queue,) = [each for each in await desk.kit.app.queues() if each.name == f"office:{office.id}"]
    assert (queue.limits.max_concurrent, queue.limits.roles) == (5, {"FE": 2, "QA": 1, "DevOps": 1})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "x\x00"}, "name"),
        ({"name": "x", "nmae": "y"}, "nmae"),
        ({"name": "x", "config": {"maxRetries": -1}}, "config.maxRetries"),
        ({"name": "x", "sessions": ["work"]}, "sessions"),
        ({"name": "x", "sessions": {"FE": 5}}, "sessions.FE.handler"),
        ({"name": "x", "sessions": {"FE": "nobody's"}}, "sessions.FE.handler"),
        ({"name": "x", "notifications": "mailto://x"}, "notifications"),
        ({"name": "x", "notifications": ["no address"]}, "notifications[0]"),
        ({"name": "x", "notifications": ["mailto://\ud800"]}, "notifications[0]"),
        ({"name": "x", "webhooks": [{"url": "ftp://x", "secret": "s"}]}, "webhooks[0].url"),
        ({"name": "x", "webhooks": [{"url": "https://x"}]}, "webhooks[0].secret"),
        (
            {"name": "x", "webhooks": [{"url": "https://x", "secret": "s3cret" * 6, "events": ["no"]}]},
            "webhooks[0].events",
        ),
        ([], None),
    ],
)
async def test_create_rejects_invalid_offices(desk: Desk, body: Any, field: str | None) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await desk.offices.create(body)
    assert refusal.value.field == field
    assert len((await desk.offices.list()).items) == 1


async def test_offices_are_listed_page_by_page(desk: Desk) -> None:
    made = [desk.id] + [(await desk.offices.create({"name": str(n)})).id for n in range(4)]
    found, cursor = [], None
    while True:
        page = await desk.offices.list(cursor=cursor, limit=2)
        found += [office.id for office in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == sorted(made)
    for wrong in ("x", "", "' --"):
        with pytest.raises(InvalidInput):
            await desk.offices.list(cursor=wrong)
    for limit in (0, 1_001, True):
        with pytest.raises(InvalidInput):
            await desk.offices.list(limit=limit)


async def test_a_change_changes_what_it_names(desk: Desk) -> None:
    await desk.offices.change(desk.id, {"sessions": {"FE": "hold"}, "notifications": ["json://x"]})
    after = await desk.offices.change(desk.id, {"name": "new", "sessions": {"FE": None, "BE": "fail"}})
    assert (after.name, after.sessions) == ("new", {"default": "work", "BE": "fail"})
    assert (after.notifications, after.version) == (["json://x"], 3)
    after = await desk.offices.change(desk.id, {"sessions": None, "notifications": None})
    assert (after.sessions, after.notifications, after.name) == ({}, [], "new")
    with pytest.raises(InvalidInput):
        await desk.offices.change(desk.id, {"config": {}})
    with pytest.raises(UnknownTask):
        await desk.offices.change(desk.id, {"name": "newer", "sessions": {"FE": "nobody's"}})
    assert (await desk.offices.get(desk.id)).name == "new"


async def test_a_change_of_something_that_has_changed_since_is_refused(desk: Desk) -> None:
    seen = await desk.offices.config(desk.id)
    changed = await desk.offices.change_config(desk.id, {"maxRetries": 5}, expected=seen.version)
    assert (changed.version, changed.config.maxRetries) == (seen.version + 1, 5)
    with pytest.raises(Changed, match="version 2, not 1"):
        await desk.offices.change_config(desk.id, {"maxRetries": 6}, expected=seen.version)
    with pytest.raises(Changed):
        await desk.offices.change(desk.id, {"name": "x"}, expected=seen.version)
    assert await desk.offices.config(desk.id) == changed


async def test_a_refused_config_changes_neither_office_nor_queue(desk: Desk) -> None:
    before = await desk.kit.app.queues()
    with pytest.raises(InvalidInput):
        await desk.offices.change_config(desk.id, {"maxConcurrentJobs": 9, "maxRetries": -1})
    assert (await desk.offices.config(desk.id)).config.maxConcurrentJobs == 3
    assert await desk.kit.app.queues() == before


async def test_an_office_with_unfinished_jobs_is_not_deleted(desk: Desk) -> None:
    job = await desk.one()
    with pytest.raises(Conflict, match="unfinished"):
        await desk.offices.delete(desk.id)
    assert await desk.status(job) == ["ready"]
    await desk.kit.run_all()
    await desk.offices.delete(desk.id)
    with pytest.raises(OfficeNotFound):
        await desk.offices.get(desk.id)
    with pytest.raises(OfficeNotFound):
        await desk.offices.job(desk.id, job.id)
    with pytest.raises(OfficeNotFound):
        await desk.offices.delete(desk.id)


async def test_deleting_an_office_may_cancel_its_jobs_first(desk: Desk) -> None:
    waiting, running = await desk.make({"depends_on": ["b"]}, {"key": "b", "handler": "hold"})
    await desk.kit.start_ready()
    await desk.offices.delete(desk.id, cancel=True)
    await desk.kit.settle()
    assert [(await desk.record(job)).state for job in (waiting, running)] == ["cancelled", "cancelled"]


async def test_deleted_office_keeps_finished_jobs_for_the_retention(desk: Desk) -> None:
    job = await desk.one()
    await desk.kit.run_all()
    await desk.offices.delete(desk.id)
    assert (await desk.record(job)).state == "succeeded"
    await desk.kit.clock.advance(desk.kit.app.settings.retention + 1)
    await desk.kit.prune()
    with pytest.raises(JobNotFound):
        await desk.record(job)


@pytest.mark.parametrize("wrong", [*HOSTILE, MISSING], ids=range(len(HOSTILE) + 1))
async def test_an_id_that_is_none_is_not_found(desk: Desk, wrong: str) -> None:
    offices, job = desk.offices, await desk.one()
    for asked in (
        lambda: offices.get(wrong),
        lambda: offices.change(wrong, {"name": "x"}),
        lambda: offices.delete(wrong),
        lambda: offices.config(wrong),
        lambda: offices.change_config(wrong, {}),
        lambda: offices.stats(wrong),
        lambda: offices.process(wrong),
        lambda: offices.create_jobs(wrong, {"jobs": []}),
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
        lambda: offices.job(desk.id, wrong),
        lambda: offices.cancel(desk.id, wrong),
        lambda: offices.retry(desk.id, wrong),
        lambda: offices.reprioritise(desk.id, wrong, {"priority": 1}),
        lambda: offices.log(desk.id, wrong),
        lambda: offices.explain(desk.id, wrong),
    ):
        with pytest.raises(JobNotFound) as missing:
            await of_job()
        assert len(str(missing.value)) < 200


async def test_a_job_of_another_office_or_of_none_is_not_found(desk: Desk) -> None:
    job = await desk.one()
    plain = await desk.kit.app.enqueue("work")
    other = await desk.offices.create({"name": "other"})
    for office_id, job_id in ((other.id, job.id), (desk.id, plain.id)):
        for asked in (
            desk.offices.job,
            desk.offices.cancel,
            desk.offices.retry,
            desk.offices.log,
            desk.offices.explain,
        ):
            with pytest.raises(JobNotFound):
                await asked(office_id, job_id)
        with pytest.raises(JobNotFound):
            await desk.offices.reprioritise(office_id, job_id, {"urgent": True})
    assert (await desk.offices.jobs(other.id)).items == []
    assert (await desk.offices.cancel_all(other.id)).cancelled == []
    assert await desk.status(job) == ["ready"]
