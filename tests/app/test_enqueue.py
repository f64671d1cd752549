"""Enqueueing: every way to request a job, the order in which jobs run, and when."""

import datetime as dt

import pytest

from hanbeon import App, Context, State, Task
from hanbeon.errors import IdAlreadyUsed, InvalidInput, UniqueKeyTaken
from hanbeon.testing import TestKit

SEOUL = dt.timezone(dt.timedelta(hours=9))


def recorder(kit: TestKit) -> tuple[Task[[str], str], list[str]]:
    """A task that records the order in which its jobs ran."""
    ran: list[str] = []

    @kit.app.task
    async def note(word: str) -> str:
        ran.append(word)
        return word.upper()

    return note, ran


async def test_by_request_by_task_and_by_name(kit: TestKit) -> None:
    note, ran = recorder(kit)
    jobs = [
        await kit.app.enqueue(note.call("request")),
        await kit.app.enqueue(note, {"word": "task"}),
        await kit.app.enqueue("note", {"word": "name"}),
        await kit.app.enqueue(note.call("options").set(role="FE"), queue="default"),
    ]
    assert await kit.run_all() == 4
    assert sorted(ran) == sorted(["request", "task", "name", "options"])
    assert [await job.result(20) for job in jobs] == ["REQUEST", "TASK", "NAME", "OPTIONS"]
    assert all(job.created for job in jobs)


async def test_many_keep_their_order(kit_url: str) -> None:
    async with TestKit(App(), kit_url, concurrency=1) as kit:
        note, ran = recorder(kit)
        words = [f"{n:02}" for n in range(10)]
        jobs = await kit.app.enqueue_many(note.call(word) for word in words)
        assert [job.id for job in jobs] == [record.id for record in await kit.app.jobs()]
        assert await kit.run_all() == 10
        assert ran == words
        assert await kit.app.enqueue_many([]) == []


async def test_jobs_run_by_urgency_then_priority_then_age(kit_url: str) -> None:
    async with TestKit(App(), kit_url, concurrency=1) as kit:
        note, ran = recorder(kit)
        await kit.app.enqueue_many(
            [
                note.call("third"),
                note.call("fifth").set(priority=5),
                note.call("second").set(priority=-5),
                note.call("fourth"),
                note.call("first").set(urgent=True, priority=100),
            ]
        )
        await kit.run_all()
    assert ran == ["first", "second", "third", "fourth", "fifth"]


async def test_a_graph_runs_in_the_order_of_its_edges(kit: TestKit) -> None:
    note, ran = recorder(kit)
    cut, dry, build, sell = (note.call(word) for word in ("cut", "dry", "build", "sell"))
    batch = [sell.set(after=[build]), build.set(depends_on=[cut.id, dry]), dry.set(after=[cut]), cut]
    jobs = await kit.app.enqueue_many(batch)
    assert [await job.state() for job in jobs] == [State.PENDING, State.PENDING, State.PENDING, State.READY]
    assert await kit.run_all() == 4
    assert ran == ["cut", "dry", "build", "sell"]


async def test_depends_on_jobs_made_before_and_both_ways_add_up(kit: TestKit) -> None:
    note, ran = recorder(kit)
    first = await kit.app.enqueue(note.call("first"), delay=60)
    second = await kit.app.enqueue(note.call("second"), delay=30)
    last = await kit.app.enqueue(note.call("last"), depends_on=[first.id], after=[second])
    assert (await last.record()).unmet == 2
    assert await last.blocked_by() == []
    await kit.run_all()
    assert ran == ["second", "first", "last"]
    late = await kit.app.enqueue(note.call("late"), after=[last])
    assert await late.state() is State.READY, "what it waits for has succeeded already"


async def test_blocked_by_names_the_failed_job_until_it_succeeds(kit: TestKit) -> None:
    broken = True

    @kit.app.task(retries=0)
    async def shaky() -> None:
        if broken:
            raise ValueError("broken")

    first = await kit.app.enqueue(shaky)
    second = await kit.app.enqueue(shaky, after=[first])
    await kit.run_all()
    assert (await first.state(), await second.state()) == (State.FAILED, State.PENDING)
    assert await second.blocked_by() == [first.id]
    broken = False
    await kit.app.retry(first)
    assert await second.blocked_by() == []
    assert await kit.run_all() == 2
    assert await second.state() is State.SUCCEEDED


async def test_on_dependency_failure_fail(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def fail() -> None:
        raise ValueError("broken")

    first = await kit.app.enqueue(fail)
    second = await kit.app.enqueue(fail, after=[first], on_dependency_failure="fail")
    await kit.run_all()
    record = await second.record()
    assert (record.state, record.failure_type) == (State.FAILED, "dependency_failed")


@pytest.mark.parametrize("delay", [90, 90.0, dt.timedelta(seconds=90)])
async def test_delay(kit: TestKit, delay: float | dt.timedelta) -> None:
    note, _ = recorder(kit)
    job = await kit.app.enqueue(note.call("x"), delay=delay)
    assert await job.state() is State.PENDING
    assert (await job.record()).run_at == kit.clock.now_us() + 90_000_000
    await kit.advance(89)
    assert await kit.tick() == 0
    await kit.advance(1)
    assert await kit.tick() == 1


@pytest.mark.parametrize(
    "run_at",
    [dt.datetime(2026, 11, 15, 20, 4, tzinfo=SEOUL), dt.datetime(2026, 11, 15, 11, 4, tzinfo=dt.UTC)],
    ids=["Seoul", "UTC"],
)
async def test_run_at(kit: TestKit, run_at: dt.datetime) -> None:
    note, _ = recorder(kit)
    job = await kit.app.enqueue(note.call("x"), run_at=run_at)
    instant = (await job.record()).run_at
    assert dt.datetime.fromtimestamp(instant / 1e6, dt.UTC) == dt.datetime(2026, 11, 15, 11, 4, tzinfo=dt.UTC)
    await kit.run_all()
    assert kit.clock.now_us() >= instant


async def test_naive_times_follow_the_configured_zone(kit_url: str) -> None:
    async with TestKit(App(timezone="America/New_York"), kit_url) as kit:
        note, _ = recorder(kit)
        job = await kit.app.enqueue(note.call("x"), run_at=dt.datetime(2027, 7, 1, 12, 0))
        assert (await job.record()).run_at == int(dt.datetime(2027, 7, 1, 16, 0, tzinfo=dt.UTC).timestamp()) * 1_000_000


async def test_rejects_a_naive_time_if_no_zone_was_chosen(kit: TestKit) -> None:
    note, _ = recorder(kit)
    with pytest.raises(InvalidInput, match="must have a time zone, got 2027-07-01 12:00:00; give it one") as refused:
        await kit.app.enqueue(note.call("x"), run_at=dt.datetime(2027, 7, 1, 12, 0))
    assert refused.value.field == "run_at"
    assert await kit.app.jobs() == []


async def test_a_time_that_has_passed_is_now(kit: TestKit) -> None:
    note, _ = recorder(kit)
    job = await kit.app.enqueue(note.call("x"), run_at=dt.datetime(1999, 12, 31, tzinfo=SEOUL))
    assert await job.state() is State.READY
    assert await (await kit.app.enqueue(note.call("y"), delay=0)).state() is State.READY


async def test_role_queue_and_work_item_can_be_looked_for(kit: TestKit) -> None:
    note, _ = recorder(kit)
    job = await kit.app.enqueue(note.call("x"), role="QA", queue="office-7", work_item="ticket-1", concurrency_key="k")
    await kit.app.enqueue(note.call("y"))
    for found in (
        await kit.app.jobs(role="QA"),
        await kit.app.jobs(queue="office-7"),
        await kit.app.jobs(work_item="ticket-1"),
        await kit.app.jobs(states=["ready"], task="note", limit=1),
    ):
        assert [record.id for record in found] == [job.id]
    assert found[0].concurrency_key == "k"
    rest = await kit.app.jobs(after=found[0].seq)
    assert [record.queue for record in rest] == ["default"]
    assert await kit.app.jobs(states=[]) == []
    assert (await kit.app.counts("office-7"))[State.READY] == 1
    assert (await kit.app.counts())[State.READY] == 2


async def test_the_same_id_and_body_is_the_same_job(kit: TestKit) -> None:
    note, _ = recorder(kit)
    request = note.call("x")
    first, again = await kit.app.enqueue(request), await kit.app.enqueue(request)
    assert (first.id, again.id) == (request.id, request.id)
    assert (first.created, again.created) == (True, False)
    with pytest.raises(IdAlreadyUsed, match=request.id):
        await kit.app.enqueue(note.call("y"), id=request.id)
    assert len(await kit.app.jobs()) == 1


async def test_an_idempotency_key_makes_one_job_for_ever(kit: TestKit) -> None:
    note, ran = recorder(kit)
    first = await kit.app.enqueue(note.call("x"), idempotency_key="order-1")
    await kit.run_all()
    again = await kit.app.enqueue(note.call("x"), idempotency_key="order-1")
    assert (again.id, again.created) == (first.id, False)
    assert await again.result(20) == "X"
    with pytest.raises(IdAlreadyUsed, match=r"'order-1' was already used for job .* with other contents; send"):
        await kit.app.enqueue(note.call("z"), idempotency_key="order-1")
    assert ran == ["x"]


async def test_a_unique_key_is_held_until_its_job_ends(kit: TestKit) -> None:
    note, ran = recorder(kit)
    first = await kit.app.enqueue(note.call("first"), unique_key="report", delay=60)
    with pytest.raises(UniqueKeyTaken, match=f"'report' is held by job {first.id}, which is pending; wait for it"):
        await kit.app.enqueue(note.call("refused"), unique_key="report")

    skipped = await kit.app.enqueue(note.call("skipped"), unique_key="report", on_conflict="skip")
    assert (skipped.id, skipped.created) == (first.id, False)

    second = await kit.app.enqueue(note.call("second"), unique_key="report", on_conflict="replace_pending")
    assert (await first.state(), second.created) == (State.CANCELLED, True)

    await kit.run_all()
    third = await kit.app.enqueue(note.call("third"), unique_key="report")
    assert third.created
    await kit.run_all()
    assert ran == ["second", "third"]


async def test_a_running_job_is_not_replaced(kit: TestKit) -> None:
    note, _ = recorder(kit)
    holder = await kit.make_job(note.call("x"), state="running", unique_key="report")
    with pytest.raises(UniqueKeyTaken, match=f"{holder.id}, which is running"):
        await kit.app.enqueue(note.call("y"), unique_key="report", on_conflict="replace_pending")


async def test_a_batch_is_all_or_nothing(kit: TestKit) -> None:
    note, _ = recorder(kit)
    await kit.app.enqueue(note.call("x"), unique_key="taken")
    with pytest.raises(UniqueKeyTaken):
        await kit.app.enqueue_many([note.call("a"), note.call("b").set(unique_key="taken"), note.call("c")])
    assert len(await kit.app.jobs()) == 1


async def test_a_request_is_not_changed_by_its_options(kit: TestKit) -> None:
    @kit.app.task(priority=3)
    async def work(ctx: Context) -> None: ...

    request = work.call()
    other = request.set(priority=9, delay=5)
    assert (request.priority, request.delay, other.priority, other.delay) == (None, None, 9, 5)
    assert other.id == request.id
    assert other.set(after=[]).depends_on == ()
