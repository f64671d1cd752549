"""The answer to a creation of jobs: their state as committed, however quick a worker is."""

import asyncio
from typing import Any

import asyncpg
import msgspec
import pytest
import uuid_utils

from hanbeon import App
from hanbeon.domain.actor import acting
from hanbeon.domain.job import JobRecord, NewJob, as_made
from hanbeon.store.operations import queries
from hanbeon.store.operations.actions import actions
from hanbeon.store.operations.enqueue import RowVersion
from hanbeon.store.operations.queries import jobs_by_id
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices import job_creation
from hanbeon.surfaces.offices.service import Offices
from tests.databases.locks import somebody_waits
from tests.surfaces.offices.office_kit import OfficeKit, add_tasks


def _id() -> str:
    return str(uuid_utils.uuid7())


async def test_created_jobs_are_returned_as_created_despite_a_worker(
    office: OfficeKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def quick_after(commit: Any) -> Any:
        async def quick(*args: Any) -> Any:
            answer = await commit(*args)
            if answer is not None:  # Otherwise it was not created on this path.
                monkeypatch.undo()
                await office.kit.run_all()
            return answer

        return quick

    store = office.kit.app.store
    monkeypatch.setattr(store, "write", quick_after(store.write))
    first, second = await office.make({"key": "a"}, {"depends_on": ["a"]})
    assert (first.status, second.status) == ("ready", "pending")
    assert await office.status(first, second) == ["done", "done"]
    for way in ("write", "enqueue_one"):  # On PostgreSQL a single job takes the fast path.
        monkeypatch.setattr(store, way, quick_after(getattr(store, way)))
    single = await office.one()
    assert (single.status, await office.status(single)) == ("ready", ["done"])


async def test_the_answer_is_what_a_look_would_show(office: OfficeKit) -> None:
    done, failed, waiting = await office.make(
        {}, {"handler": "fail", "max_retries": 0}, {"depends_on": [], "role": "QA"}
    )
    await office.kit.run_all()
    again = {"id": _id(), "title": "again"}
    before = await office.one(**again)
    made = await office.make(
        {"key": "a", "role": "FE", "task_id": "T", "priority": 7, "urgent": True, "timeout_ms": 1_500},
        {"key": "b", "depends_on": ["c", "a", "a"], "max_retries": 9, "title": "제목", "args": {"name": "b"}},
        {"key": "c", "handler": "say"},
        {"key": "d", "depends_on": [done.id, "a"]},
        {"key": "e", "depends_on": [done.id]},
        {"key": "f", "depends_on": [failed.id, waiting.id]},
        {"key": "g", "depends_on": [failed.id], "on_dependency_failure": "fail"},
        {"key": "h", "depends_on": ["g"]},
        {"key": "i", "depends_on": [before.id, "a"]},
        again,
    )
    statuses = ["ready", "pending", "ready", "pending", "ready", "pending", "failed", "failed", "pending", "ready"]
    assert [job.status.value for job in made] == statuses
    looked = {job.id: job for job in (await office.offices.jobs(office.id)).items}
    assert made == [looked[job.id] for job in made]


async def test_a_record_of_what_was_made_is_the_one_that_is_read_back(
    office: OfficeKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    records: list[JobRecord] = []

    def noting(*args: Any, **more: Any) -> JobRecord:
        records.append(as_made(*args, **more))
        return records[-1]

    monkeypatch.setattr(job_creation, "as_made", noting)
    made = await office.make(
        {"key": "a", "role": "FE", "task_id": "T", "priority": 7, "urgent": True, "timeout_ms": 1_500},
        {"depends_on": ["a"], "max_retries": 9, "on_dependency_failure": "fail"},
    )
    assert records == [await office.record(job) for job in made]


async def test_created_jobs_are_not_read_back(office: OfficeKit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading back a batch of thousands would go row by row."""
    asked: list[str] = []
    look = queries.bounded_jobs_by_id

    async def looking(tx: Tx, ids: Any) -> list[JobRecord]:
        asked.extend(ids)
        return await look(tx, ids)

    monkeypatch.setattr(queries, "bounded_jobs_by_id", looking)
    await office.make(*({"key": str(n), "depends_on": [str(n - 1)] if n else []} for n in range(100)))
    assert asked == []
    made = await office.make({"key": "a"}, {"depends_on": [(await office.one()).id]})
    assert asked == [made[1].id]
    assert msgspec.to_builtins(made[1])["status"] == "pending"


async def test_single_job_waits_for_a_concurrent_office_change(postgres_url: str) -> None:
    """It is created in one statement whose snapshot of the office is older than the commit of the change."""
    app = App(postgres_url)
    await app.migrate()
    async with app:
        add_tasks(app)
        offices = Offices(app)
        office = await offices.create(name="x", sessions={"default": "work"})
        await offices.create_jobs(office.id, jobs=[{}, {"handler": "hold"}])  # So that the lanes are known.
        other = await asyncpg.connect(postgres_url)
        try:
            async with other.transaction():
                await other.execute(
                    "UPDATE hanbeon.office SET sessions = $2, version = version + 1 WHERE id = $1",
                    *(office.id, '{"default": "hold"}'),
                )
                job_creation = asyncio.create_task(offices.create_jobs(office.id, jobs=[{}]))
                assert await somebody_waits(postgres_url, job_creation)
            (made,) = (await job_creation).jobs
        finally:
            await other.close()
        assert (made.status, (await app.store.job(made.id)).task) == ("ready", "hold")


async def test_a_single_job_of_an_office_that_is_gone_is_not_made(postgres_url: str) -> None:
    app = App(postgres_url)
    await app.migrate()
    async with app:
        add_tasks(app)
        offices = Offices(app)
        office = await offices.create(name="x", sessions={"default": "work"})
        (job,) = (await offices.create_jobs(office.id, jobs=[{}])).jobs
        record = await app.store.job(job.id)
        new = NewJob(id=_id(), task=record.task, queue=record.queue)
        made = await app.store.enqueue_one(new, RowVersion("keep_office", office.id, office.version))
        assert made is not None
        assert await app.store.enqueue_one(new, RowVersion("keep_office", office.id, office.version)) is None, (
            "the id is taken"
        )
        new = msgspec.structs.replace(new, id=_id())
        assert await app.store.enqueue_one(new, RowVersion("keep_office", office.id, office.version + 1)) is None
        await offices.delete(office.id, cancel=True)
        assert await app.store.enqueue_one(new, RowVersion("keep_office", office.id, office.version)) is None
        assert await app.store.read(lambda tx: jobs_by_id(tx, [new.id])) == []


async def test_many_jobs_are_created_as_if_one_by_one(office: OfficeKit) -> None:
    """A large batch takes the fast path of bulk enqueue: the same rows, and the same number of moves is recorded."""
    bodies: list[dict[str, Any]] = [
        {},
        {"args": {"name": "a\\b\tc"}, "title": "one\ntwo \\N", "key": "k"},
        {"role": "FE", "priority": 7, "urgent": True, "task_id": "T\t1"},
        {"handler": "work", "timeout_ms": 1_500, "max_retries": 2, "on_dependency_failure": "fail"},
    ]
    alone = [await office.one(**body) for body in bodies]
    rounds = 20
    with acting("ada", "rest", "create_jobs"):
        many = await office.make(
            *({**body, **({"key": f"k{n}"} if "key" in body else {})} for n in range(rounds) for body in bodies)
        )
    store = office.kit.app.store
    records = {job.id: job for job in await store.read(lambda tx: jobs_by_id(tx, [j.id for j in (*alone, *many)]))}

    def compared(job: Any) -> JobRecord:
        record = records[job.id]
        meta = {**msgspec.json.decode(record.meta or "{}"), "key": None, "asked": ""}
        text = msgspec.json.encode(meta, order="sorted").decode()
        return msgspec.structs.replace(record, seq=0, id="", created_at=0, run_at=0, meta=text)

    assert [compared(job) for job in many] == [compared(job) for job in alone] * rounds
    assert [records[job.id].seq for job in many] == sorted(records[job.id].seq for job in many)
    (action,) = await store.read(lambda tx: actions(tx, None, "ada", 10))
    assert action.count == len(many)
