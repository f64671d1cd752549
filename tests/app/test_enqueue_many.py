"""Very many jobs in one call: as requested, in order, all of them or none."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hanbeon import App, Job, JobRequest, SyncApp
from hanbeon.domain.batch import digest_of
from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.errors import IdAlreadyUsed, InvalidInput, PayloadTooLarge, UnknownTask
from hanbeon.store.fast import bulk
from hanbeon.surfaces.verify import verify
from hanbeon.tasks.build import new_jobs
from hanbeon.testing import TestKit

HOUR_THAT_COMES_TWICE = dt.datetime(2026, 10, 25, 2, 30)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"queue": "other"},
    {"role": "FE"},
    {"concurrency_key": "k"},
    {"priority": 1},
    {"priority": 0},
    {"urgent": True},
    {"delay": 1},
    {"delay": dt.timedelta(seconds=2)},
    {"run_at": HOUR_THAT_COMES_TWICE},
    {"run_at": HOUR_THAT_COMES_TWICE.replace(fold=1)},
    {"on_dependency_failure": "fail"},
    {"idempotency_key": "i"},
    {"unique_key": "u"},
    {"unique_key": "v", "on_conflict": "skip"},
    {"timeout": 5},
    {"retries": 0},
    {"work_item": "w"},
]


@pytest.fixture
def app() -> App:
    app = App(max_payload_bytes=1024, timezone="Europe/Berlin")

    @app.task
    async def note(word: str) -> None: ...

    @app.task(queue="other", priority=3, retries=1)
    async def remark(word: str) -> None: ...

    return app


def test_each_job_is_what_it_would_be_alone(app: App) -> None:
    requests = [
        app.tasks.get(name).call(f"{n}").set(**options)
        for n in range(3)
        for options in OPTIONS
        for name in ("note", "remark")
    ]
    requests.append(requests[0].set(id=app.tasks.get("note").call("x").id, after=requests[:2]))
    jobs = new_jobs(app.tasks, app.settings, requests)
    alone = [request.to_new_job(ZoneInfo("Europe/Berlin")) for request in requests]
    assert list(jobs) == alone
    assert (jobs[-1], jobs[2:4], len(jobs)) == (alone[-1], alone[2:4], len(alone))
    assert [digest_of(job) for job in jobs] == [digest_of(job) for job in alone]
    times = {job.run_at_us for job in jobs if job.run_at_us is not None}
    assert max(times) - min(times) == 3_600_000_000


def test_a_digest_tells_every_field_from_every_other() -> None:
    job = NewJob(id="", task="t", args="{}")
    others = [
        NewJob(id="", task="t", args="[]"),
        NewJob(id="", task="t", args="{}", queue="{}"),
        NewJob(id="", task="u"),
    ]
    assert len({digest_of(each) for each in [job, *others]}) == 4
    assert digest_of(NewJob(id="another", task="t", args="{}")) == digest_of(job)


async def test_a_bad_last_one_of_ten_thousand_leaves_nothing(app: App, kit_url: str) -> None:
    async with TestKit(app, kit_url):
        note = app.tasks.get("note")
        await app.enqueue(note.call("first"))
        requests = [note.call(f"{n}") for n in range(9_999)]
        with pytest.raises(PayloadTooLarge, match=r"args: must be at most .* bytes, got 1,035"):
            await app.enqueue_many([*requests, note.call("x" * 1_024)])
        with pytest.raises(InvalidInput, match=r"^id: must be a UUID in lower case, got 'no'"):
            await app.enqueue_many([*requests, note.call("x").set(id="no")])
        stranger = App().task(lambda: None, name="note")  # type: ignore[call-overload]
        with pytest.raises(UnknownTask, match="belongs to another App"):
            await app.enqueue_many([*requests, stranger.call()])
        assert (await app.counts())[State.READY] == 1
        assert len(await app.events_after()) == 1


async def test_ten_thousand_of_two_tasks_keep_their_order(
    app: App, kit_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[bool] = []
    in_bulk = bulk.in_bulk

    def noted(*args: Any) -> Any:
        operation = in_bulk(*args)
        ways.append(operation is not None)
        return operation

    monkeypatch.setattr("hanbeon.store.fast.bulk.in_bulk", noted)
    async with TestKit(app, kit_url):
        note, remark = app.tasks.get("note"), app.tasks.get("remark")
        await app.enqueue_many([note.call(""), remark.call("")])
        jobs = await app.enqueue_many((remark if n % 3 else note).call(f"{n}") for n in range(9_998))
        assert ways == ([] if kit_url.startswith("sqlite") else [False, True]), "only the second is for the short way"
        assert all(job.created for job in jobs)
        records = await app.jobs(limit=10_000)
        assert [record.id for record in records][2:] == [job.id for job in jobs]
        assert [record.task for record in records][2:] == ["remark" if n % 3 else "note" for n in range(9_998)]
        assert (await app.counts())[State.READY] == 10_000
        assert (await app.counts("other"))[State.READY] == sum(1 for n in range(9_998) if n % 3) + 1
        again = await app.enqueue_many([note.call("after"), remark.call("after")])
        assert all(job.created for job in again)
        assert not (await verify(app.store)).findings


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_script_makes_as_many(app: App, database_url: str) -> None:
    sync = SyncApp(app.use(None, database_url=database_url))
    sync.migrate()
    with sync:
        note = app.tasks.get("note")
        sync.enqueue(note.call("first"))
        jobs = sync.enqueue_many([note.call(f"{n}") for n in range(500)])
        assert [job.created for job in jobs] == [True] * 500
        assert sync.counts()[State.READY] == 501


@pytest.mark.parametrize("batch_first", [False, True])
async def test_repeat_alone_of_a_job_of_a_batch(kit: TestKit, batch_first: bool) -> None:
    """Both paths into the queue store the same: a repeat on the other one finds the job."""
    app = kit.app

    @app.task(jitter=1, retry_delay=1)
    async def work(value: float) -> None: ...

    kinds: list[dict[str, Any]] = [
        {},
        {"priority": 5, "urgent": True, "retries": 0, "timeout": 1},
        {"priority": 5, "urgent": True, "retries": 0, "timeout": 1.0},
        {"delay": 3600.0, "concurrency_key": "k", "work_item": "w"},
        {"delay": 3600, "idempotency_key": "once", "on_conflict": "skip"},
        {"unique_key": "one", "on_conflict": "skip"},
    ]
    for options in kinds:
        for value in (1, 1.0, -0.0):
            given: Any = {name: f"{each}{value}" if "_key" in name else each for name, each in options.items()}
            request = work.call(value).set(**given)

            async def alone(request: JobRequest[None] = request) -> Job[None]:
                return await app.enqueue(request)

            async def batch(request: JobRequest[None] = request) -> Job[None]:
                return (await app.enqueue_many([request]))[0]

            first, second = (batch, alone) if batch_first else (alone, batch)
            made, found = await first(), await second()
            assert (made.created, found.created, made.id) == (True, False, found.id), (options, value)
            other = request.set(priority=77)
            for path in (app.enqueue(other), app.enqueue_many([other])):
                with pytest.raises(IdAlreadyUsed):
                    await path
