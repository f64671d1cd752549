"""The events of an office: only its own, in its vocabulary, from any id."""

import asyncio

import pytest

from hanbeon.errors import InvalidInput
from hanbeon.surfaces import event_page as module
from hanbeon.surfaces.offices.schemas import SchedulerEvent
from hanbeon.surfaces.offices.vocabulary import EventType
from tests.surfaces.offices.office_kit import OfficeKit


async def test_an_event_has_the_fields_of_the_seed_and_an_id(office: OfficeKit) -> None:
    job = await office.one(handler="fail", max_retries=1, args={"failure_type": "session_error"})
    await office.kit.run_all()
    events = await office.events()
    assert [event.type for event in events] == [
        EventType.JOB_READY,
        EventType.JOB_STARTED,
        EventType.JOB_RETRYING,
        EventType.JOB_READY,
        EventType.JOB_STARTED,
        EventType.JOB_FAILED,
    ]
    assert {(event.job_id, event.office_id) for event in events} == {(job.id, office.id)}
    assert [event.id for event in events] == sorted({event.id for event in events})
    started, retrying, failed = events[1], events[2], events[5]
    sessions = [each.session_id for each in (await office.job(job)).executions]
    assert (started.details["attempt"], started.details["session_id"]) == (1, sessions[0])
    assert started.timestamp.endswith("+09:00")
    assert retrying.details["status"] == "pending"
    assert retrying.details["retry_at"].endswith("+09:00")
    assert (failed.details["failure_type"], failed.details["error_message"]) == ("session_error", "on purpose")


async def test_a_reader_resumes_behind_the_last_id_it_saw(office: OfficeKit) -> None:
    await office.make({}, {})
    await office.kit.run_all()
    events = await office.events()
    for place, event in enumerate(events):
        assert await office.events(event.id) == events[place + 1 :]
    with pytest.raises(InvalidInput):
        await office.offices.events(office.id, after=-1)


async def test_others_events_are_passed_over_a_few_pages_at_a_time(
    office: OfficeKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCHES", 1)
    for _ in range(25):
        await office.kit.app.enqueue("work")
    mine = await office.one()
    page = await office.offices.events(office.id)
    assert (page.items, page.more) == ([], True)
    assert page.after > 0
    assert [event.job_id for event in await office.events(page.after)] == [mine.id]


async def test_job_lost_once_is_ready_again_with_all_its_retries(office: OfficeKit) -> None:
    job = await office.one(handler="hold", max_retries=0)
    await office.kit.start_ready()
    await office.kit.clock.advance(office.kit.app.settings.lease)
    await office.kit.worker.recover.run_once()
    shown = await office.job(job)
    assert (shown.status.value, shown.retry_count) == ("ready", 0)
    assert [execution.status.value for execution in shown.executions] == ["failed"]
    office.gates.hold.set()
    await office.kit.tick()
    assert await office.types(job) == [
        "job_ready",
        "job_started",
        "job_retrying",
        "job_ready",
        "job_started",
        "job_completed",
    ]


async def test_follower_gets_new_events(office: OfficeKit) -> None:
    before = await office.one()
    arrived: list[SchedulerEvent] = []

    async def follow() -> None:
        async for event in office.offices.follow(office.id):
            arrived.append(event)
            if len(arrived) == 2:
                return

    following = asyncio.create_task(follow())
    await office.kit.app.enqueue("work")
    after = await office.one()
    async with asyncio.timeout(20):
        await following
    assert [event.job_id for event in arrived] == [before.id, after.id]
