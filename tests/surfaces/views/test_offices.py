"""`job_queue` and `job_executions` match the offices' answers for every job, through all its states."""

import asyncio
from functools import partial
from typing import Any

import msgspec
import pytest

from hanbeon import App, Context
from hanbeon.domain.job import session_id
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.store.operations.queries import attempts_of
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.offices.vocabulary import ExecutionStatus, JobStatus
from hanbeon.testing import TestKit
from tests.surfaces.offices.office_kit import SESSIONS, OfficeKit, add_tasks
from tests.surfaces.views.page import check_types_of_values
from tests.surfaces.views.reader import Reader, at_rest

LIMIT = 60.0


@pytest.fixture
async def office(far_kit: TestKit) -> OfficeKit:
    office = OfficeKit(far_kit, add_tasks(far_kit.app))
    add_more_tasks(far_kit.app)
    await office.open()
    return office


def add_more_tasks(app: App) -> None:
    @app.task
    async def rich(ctx: Context) -> Any:
        await ctx.progress({"share": 0.5, "text": "half\x00 way"})
        return {"text": "다 됐다 \x00 'quoted'", "number": 1e300, "list": [1, None, True]}

    @app.task
    async def later(ctx: Context) -> None:
        if ctx.attempt == 1:
            ctx.retry_in(120, "not yet")


async def agree(offices: Offices, office_id: str, reader: Reader, *, far: bool = True) -> set[str]:
    """Check that the views match the office's answer for every job, with none missing; return the statuses seen."""

    async def expected() -> dict[str, Any]:
        page = await offices.jobs(office_id, limit=1_000)
        jobs = {job.id: msgspec.to_builtins(await offices.job(office_id, job.id)) for job in page.items}
        for job in jobs.values() if far and reader.on_sqlite else ():
            # SQLite uses the reader's clock, by which a deadline of that far day has not passed.
            job["status"] = job["status"].replace("timeout", "processing")
        return jobs

    async def shown() -> dict[str, Any]:
        jobs = {
            row["id"]: row | {"executions": []} for row in await reader.view("job_queue", f"office_id = '{office_id}'")
        }
        for row in sorted(await reader.view("job_executions"), key=lambda row: int(row["attempt"])):
            assert row["id"] == row["session_id"] == session_id(row["job_id"], row["attempt"])
            assert row["created_at"] == row["started_at"]
            execution = {name: row[name] for name in schemas.JobExecution.__struct_fields__}
            jobs[row["job_id"]]["executions"].append(execution)
        return jobs

    return {job["status"] for job in (await at_rest(expected, shown)).values()}


async def test_view_matches_the_office_through_all_states(office: OfficeKit, reader: Reader) -> None:
    kit, seen = office.kit, set()

    async def look() -> None:
        seen.update(await agree(office.offices, office.id, reader))

    await office.offices.change_config(office.id, maxConcurrentJobs=50, maxConcurrentByRole={"QA": 20})
    first, *_, dropped, stubborn = await office.make(
        {
            "key": "first",
            "title": "the 'first' one, 첫째",
            "role": "QA",
            "task_id": "T-1",
            "priority": -5,
            "urgent": True,
        },
        {"key": "second", "depends_on": ["first"], "timeout_ms": 1_234},
        {"key": "third", "depends_on": ["first", "second"]},
        {"handler": "rich"},
        {"handler": "later"},
        {"handler": "fail", "max_retries": 1},
        {"handler": "fail", "args": {"permanent": True, "failure_type": "git_conflict"}},
        {"handler": "hold", "timeout_ms": 60_000, "max_retries": 1, "title": "times out"},
        {"role": "nobody", "key": "dropped", "handler": "work"},
        {"key": "stopped", "handler": "stubborn", "timeout_ms": 90_000_000},
    )
    (blocked,) = await office.make({"depends_on": [dropped.id, first.id], "key": "blocked"})
    await office.make({"depends_on": [dropped.id], "on_dependency_failure": "fail"})
    await look()
    await office.offices.cancel(office.id, dropped.id)
    assert (await office.job(blocked)).blocked_by == [dropped.id]
    await look()
    await kit.start_ready()
    await look()
    await office.offices.cancel(office.id, stubborn.id)
    await look()
    office.gates.stop.set()
    for _ in range(5):
        await kit.advance(61)
        await look()
        await kit.start_ready()
        await look()
    office.gates.hold.set()
    await kit.run_all()
    await look()
    await office.offices.retry(office.id, dropped.id)
    await look()
    await kit.run_all()
    await office.offices.cancel(office.id, (await office.one(role="PO")).id)
    await look()
    assert seen | {"timeout"} == {status.value for status in JobStatus}
    await check_types_of_values(reader, "job_queue")
    await check_types_of_values(reader, "job_executions")


async def test_lost_and_released_attempts_use_office_vocabulary(office: OfficeKit, reader: Reader) -> None:
    """Both where the job continued and where it ended so."""
    kit, found = office.kit, dict[str, set[str]]()
    await office.make({"handler": "later"})
    assert await kit.tick() == 1
    await agree(office.offices, office.id, reader)
    await office.make({"handler": "hold", "max_retries": 0})
    for _ in range(2):
        await kit.start_ready()
        await kit.clock.advance(200)  # The lease is not renewed meanwhile.
        await kit.worker.recover.run_once()
        await agree(office.offices, office.id, reader)
        await kit.clock.advance(3_600)
    for job in (await office.offices.jobs(office.id)).items:
        for attempt in await kit.app.store.read(partial(attempts_of, job_id=job.id)):
            (row,) = await reader.view("job_executions", f"job_id = '{job.id}' AND attempt = {attempt.attempt}")
            found.setdefault(attempt.status.value, set()).add(row["status"])
    assert found[AttemptStatus.LOST] == {ExecutionStatus.FAILED}
    assert found[AttemptStatus.RELEASED] == {ExecutionStatus.CANCELLED}


async def test_overdue_job_being_stopped_is_shown_as_timeout(app: App, app_url: str) -> None:
    """On the real clock, which a reader has too."""
    gates = add_tasks(app)
    offices = Offices(app, None)
    office = await offices.create(name="slow", sessions=SESSIONS)
    late, running = (
        await offices.create_jobs(
            office.id, jobs=[{"handler": "stubborn", "timeout_ms": 50}, {"handler": "hold", "timeout_ms": 3_600_000}]
        )
    ).jobs
    async with Reader(app_url) as reader, app.worker(), asyncio.timeout(LIMIT):
        while await _statuses(offices, late, running) != ["timeout", "processing"]:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
        assert await agree(offices, office.id, reader, far=False) == {"timeout", "processing"}
        assert [row["id"] for row in await reader.view("job_queue", "status = 'timeout'")] == [late.id]
        gates.stop.set()
        gates.hold.set()


async def _statuses(offices: Offices, *jobs: schemas.Job) -> list[str]:
    return [(await offices.job(job.office_id, job.id)).status.value for job in jobs]


async def test_view_hides_other_queues_and_deleted_offices(office: OfficeKit, reader: Reader) -> None:
    await office.kit.app.enqueue("work", {})
    job = await office.one()
    other = await office.offices.create(name="another", sessions=SESSIONS)
    await office.offices.create_jobs(other.id, jobs=[{}, {}])
    await office.kit.run_all()
    assert len(await reader.view("job_queue")) == len(await reader.view("job_executions")) == 3
    await office.offices.delete(other.id)
    assert [row["id"] for row in await reader.view("job_queue")] == [job.id]
    assert [row["job_id"] for row in await reader.view("job_executions")] == [job.id]
