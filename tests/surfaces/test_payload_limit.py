"""`max_payload_bytes` at the table: every way to create a job of a task is held to it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from hanbeon import App, Context
from hanbeon.domain.job import NewJob
from hanbeon.errors import InvalidInput, PayloadTooLarge
from hanbeon.store.operations.enqueue import enqueue
from hanbeon.testing import TestKit
from tests.surfaces.chains.chain_kit import LIBRARY
from tests.surfaces.offices.office_kit import SESSIONS, add_tasks
from tests.surfaces.workflows.workflow_kit import WorkflowKit, statuses

LIMIT = 20_000
LONG = "가" * LIMIT


@pytest.fixture
async def kit(database_url: str) -> AsyncIterator[TestKit]:
    app = App(max_payload_bytes=LIMIT, chain_libraries=LIBRARY)
    add_tasks(app)
    async with TestKit(app, database_url) as kit:
        yield kit


async def largest(kit: TestKit) -> int:
    rows = await WorkflowKit(kit).script("SELECT args FROM hanbeon.job")
    return max((len(row["args"].encode()) for row in rows), default=0)


async def test_task_step_is_held_to_the_limit(kit: TestKit) -> None:
    """Each text is short in the definition, and long once it is rendered."""
    texts = ["{{ text }}"] * 10
    step = {"type": "task", "task_id": "work", "args": {"name": "{{ text }}" * 10}, "retries": 2}
    for args in (step["args"], {"name": texts}):
        run = await WorkflowKit(kit).run({**step, "args": args}, variables={"text": "x" * 3_000}, name=str(args)[:9])
        assert (run.status, statuses(run)) == ("failed", [("step1", "failed", 1)])
        assert "args: must be at most 20,000 bytes, got 30,0" in str(run.steps[0].error_message)
    assert await largest(kit) < LIMIT


async def test_enqueue_at_the_table_is_held_to_the_limit(kit: TestKit) -> None:
    """By itself, in a batch and with a job's success: in the functions that all doors use."""
    store = kit.app.store

    def new(args: str = LONG, meta: str | None = None) -> NewJob:
        return NewJob(id=str(uuid.uuid4()), task="work", args=f'{{"name":"{args}"}}', meta=meta)

    async def batch(*jobs: NewJob) -> None:
        async def write(tx: Any) -> None:
            await enqueue(tx, await store.lanes.ensure(tx, (job.lane for job in jobs)), jobs)

        await store.write(write)

    await store.enqueue([new("short")])
    for attempt in (
        lambda: store.enqueue([new()]),
        lambda: store.enqueue([new("short"), new()]),
        lambda: store.enqueue([new("short", meta=f'"{LONG}"')]),
        lambda: batch(new()),
        lambda: batch(new("short"), new()),
    ):
        with pytest.raises(PayloadTooLarge):
            await attempt()
    assert await largest(kit) < LIMIT


async def test_every_door_refuses_what_is_too_long(kit: TestKit) -> None:
    app = kit.app
    office = await app.offices.create(name="an office", sessions=SESSIONS)
    doors: dict[str, Callable[[], Awaitable[Any]]] = {
        "args": lambda: app.enqueue("work", {"name": LONG}),
        "batch": lambda: app.enqueue_many([app.tasks.get("work").call(name=name) for name in ("a", LONG)]),
        "office": lambda: app.offices.create_jobs(office.id, jobs=[{"handler": "work", "args": {"name": LONG}}]),
        "chain": lambda: app.chains.create(
            queue_library=LIBRARY, jobs=[{"forward_operation": "deposit", "arguments": {"x": LONG}}]
        ),
        "schedule": lambda: app.schedules.create(task="work", name="daily", cron="0 9 * * *", args={"name": LONG}),
    }
    for name, door in doors.items():
        with pytest.raises(InvalidInput) as refused:
            await door()
        assert isinstance(refused.value, PayloadTooLarge), (name, refused.value)
    assert await largest(kit) < LIMIT


async def test_child_that_is_too_long_fails_its_parent(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def parent(ctx: Context) -> None:
        await ctx.enqueue(kit.app.tasks.get("work").call(name=LONG))

    job = await kit.app.enqueue(parent)
    await kit.run_all()
    record = await job.record()
    assert (record.state, "must be at most 20,000 bytes" in str(record.error_message)) == ("failed", True)
    assert await largest(kit) < LIMIT
