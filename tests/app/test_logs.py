"""`ctx.log`: readable while the task runs, and complete when it has ended, however it did."""

import asyncio
import threading
from typing import Any

import pytest

from hanbeon import App, Context, PermanentError, State, SyncContext
from hanbeon.clock import MICROS
from hanbeon.domain.log import LogCut, LogEntry, LogLine, LogStream
from hanbeon.errors import InvalidInput, JobNotFound
from hanbeon.job import Job
from hanbeon.store.database.sqlite import USER_TRANSACTION_SECONDS
from hanbeon.testing import TestKit
from tests.executors import bodies


async def entries(job: Job[object], attempt: int | None = None) -> list[LogEntry]:
    """Return all of a log, page by page."""
    page = await job.log(attempt=attempt)
    found = [*page.entries]
    while page.more:
        page = await job.log(attempt=attempt, after=page.after)
        found += page.entries
    return found


async def texts(job: Job[object], attempt: int | None = None) -> list[str]:
    return [entry.text for entry in await entries(job, attempt) if isinstance(entry, LogLine)]


async def test_a_log_is_read_while_the_job_runs(kit: TestKit) -> None:
    go = asyncio.Event()

    @kit.app.task
    async def work(ctx: Context) -> None:
        ctx.log("first\nsecond")
        await go.wait()
        ctx.log("third")

    job = await kit.app.enqueue(work)
    await kit.start_ready()
    page = await job.log()
    assert [(entry.line, entry.stream, entry.text) for entry in page.entries if isinstance(entry, LogLine)] == [
        (1, LogStream.TASK, "first"),
        (2, LogStream.TASK, "second"),
    ]
    assert (await job.log(after=page.after)).entries == ()
    await kit.advance(3)
    go.set()
    await kit.settle()
    (last,) = (await kit.app.log(job.id, after=page.after)).entries
    assert isinstance(last, LogLine)
    record = await job.record()
    assert record.started_at is not None
    assert (last.text, last.line, last.at) == ("third", 3, record.started_at + 3 * MICROS), "by the database's clock"


async def test_last_log_lines_survive_every_kind_of_end(kit: TestKit) -> None:
    @kit.app.task(retries=0, timeout=30)
    async def work(ctx: Context, end: str) -> None:
        ctx.log(f"before {end}")
        if end == "return":
            return
        if end == "raise":
            raise ValueError
        if end == "permanent":
            raise PermanentError
        if end == "put off":
            ctx.retry_in(3_600)
        try:
            await asyncio.Event().wait()
        finally:
            ctx.log(f"in the end: {end}")

    ends = ("return", "raise", "permanent", "put off", "timeout", "cancel")
    jobs = {end: await kit.app.enqueue(work.call(end)) for end in ends}
    await kit.start_ready()
    assert await jobs["cancel"].cancel() is State.RUNNING
    await kit.advance(30)
    await kit.settle()
    for end in ("return", "raise", "permanent", "put off"):
        assert await texts(jobs[end]) == [f"before {end}"]
    for end in ("timeout", "cancel"):
        assert await texts(jobs[end]) == [f"before {end}", f"in the end: {end}"]
    states = [await jobs[end].state() for end in ends]
    assert states == [State.SUCCEEDED, State.FAILED, State.FAILED, State.PENDING, State.FAILED, State.CANCELLED]


async def test_job_handed_back_keeps_its_log(app_url: str) -> None:
    async with App(app_url, shutdown_grace=0) as app:
        began = asyncio.Event()

        @app.task
        async def work(ctx: Context) -> None:
            ctx.log("begun")
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ctx.log("interrupted")

        job = await app.enqueue(work)
        async with app.worker():
            await began.wait()
        assert await job.state() is State.READY
        assert await texts(job) == ["begun", "interrupted"]


async def test_each_attempt_has_its_own_log(kit: TestKit) -> None:
    @kit.app.task(retries=1, retry_delay=1)
    async def work(ctx: Context) -> None:
        ctx.log(f"this is attempt {ctx.attempt}")
        if ctx.attempt == 1:
            raise ValueError

    job = await kit.app.enqueue(work)
    await kit.run_all()
    assert await texts(job) == ["this is attempt 1", "this is attempt 2"]
    assert await texts(job, 1) == ["this is attempt 1"]


async def test_threads_of_a_body_write_one_log(kit: TestKit) -> None:
    @kit.app.task
    def work(ctx: SyncContext) -> None:
        def say(name: int) -> None:
            for number in range(200):
                ctx.log(f"{name} {number}")

        threads = [threading.Thread(target=say, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    job = await kit.app.enqueue(work)
    await kit.tick()
    found = await texts(job)
    for name in range(4):
        assert [line for line in found if line.startswith(f"{name} ")] == [f"{name} {number}" for number in range(200)]


async def test_a_log_beyond_the_limit_keeps_its_beginning_and_its_end(kit_url: str) -> None:
    async with TestKit(App(max_log_bytes=16_384), kit_url) as kit:

        @kit.app.task
        def flood(ctx: SyncContext) -> None:
            for number in range(1, 20_001):
                ctx.log(f"line {number}")

        job = await kit.app.enqueue(flood)
        await kit.tick()
        found = await entries(job)
        lines = [entry for entry in found if isinstance(entry, LogLine)]
        (cut,) = [entry for entry in found if isinstance(entry, LogCut)]
        assert (lines[0].text, lines[-1].text) == ("line 1", "line 20000")
        assert all(entry.text == f"line {entry.line}" for entry in lines)
        assert cut.lines == 20_000 - len(lines)


async def test_no_log_is_kept_where_the_limit_is_nothing(kit_url: str) -> None:
    async with TestKit(App(max_log_bytes=0), kit_url) as kit:

        @kit.app.task
        async def work(ctx: Context) -> None:
            ctx.log("to nobody")

        job = await kit.app.enqueue(work)
        await kit.tick()
        assert (await job.state(), await texts(job)) == (State.SUCCEEDED, [])


@pytest.mark.parametrize("fails", [False, True])
async def test_a_log_beside_a_transaction(kit: TestKit, fails: bool) -> None:
    """On SQLite the transaction holds the only write lock: the log is written through it, or after its rollback."""

    @kit.app.task(retries=0)
    async def work(ctx: Context) -> None:
        ctx.log("before")
        await ctx.transaction()
        ctx.log("inside")
        if fails:
            raise ValueError

    job = await kit.app.enqueue(work)
    async with asyncio.timeout(USER_TRANSACTION_SECONDS * 0.8):  # Before the transaction's limit.
        await kit.tick()
    assert await job.state() is (State.FAILED if fails else State.SUCCEEDED)
    assert await texts(job) == ["before", "inside"]


async def test_a_log_beside_a_transaction_that_is_undone_by_a_cancel(kit: TestKit) -> None:
    go = threading.Event()

    @kit.app.task
    def work(ctx: SyncContext) -> None:
        ctx.log("before")
        go.wait(20)
        ctx.transaction()
        ctx.log("inside")

    job = await kit.app.enqueue(work)
    await kit.start_ready()
    assert await job.cancel() is State.RUNNING
    go.set()
    await kit.settle()
    assert await job.state() is State.CANCELLED
    assert await texts(job) == ["before", "inside"]


async def test_with_children_the_log_comes_first(kit: TestKit) -> None:
    @kit.app.task
    async def child() -> None: ...

    @kit.app.task
    async def work(ctx: Context) -> None:
        await ctx.enqueue(child.call())
        ctx.log("one child")

    job = await kit.app.enqueue(work)
    await kit.run_all()
    assert await texts(job) == ["one child"]
    assert len(await kit.app.jobs(task="child")) == 1


async def test_odd_text_is_kept_as_well_as_can_be(kit: TestKit) -> None:
    @kit.app.task
    async def work(ctx: Context) -> None:
        ctx.log("nul \x00, half \ud800, escape \x1b[2J, 한번")
        ctx.log("")
        ctx.log(42)  # type: ignore[arg-type]

    job = await kit.app.enqueue(work)
    await kit.tick()
    assert await job.state() is State.SUCCEEDED
    assert await texts(job) == ["nul \ufffd, half ?, escape \x1b[2J, 한번", "", "42"]


async def test_a_process_logs_too(app: App) -> None:
    saying = app.task(executor="process")(bodies.saying.function)
    async with app.worker():
        job = await app.enqueue(saying.call(["one", "두\n셋"]))
        await job.result(30)
    assert await texts(job) == ["one", "두", "셋"]


async def test_flooding_process_is_slowed_and_loses_only_the_middle(app_url: str) -> None:
    many = 40_000  # Several times what a pipe and the log hold.
    async with App(app_url, shutdown_grace=0.2, lease=10, watch=0.05, max_log_bytes=100_000) as app:
        flooding = app.task(executor="process")(bodies.flooding.function)
        async with app.worker():
            job = await app.enqueue(flooding.call(lines=many))
            await job.result(300)
        entries: list[LogEntry] = []
        after = None
        while True:
            page = await job.log(after=after, limit=10_000)
            entries += page.entries
            after = page.after
            if not page.more:
                break
    lines = [entry for entry in entries if isinstance(entry, LogLine)]
    assert (lines[0].text, lines[-1].line) == ("line 1", many)
    assert all(entry.text == f"line {entry.line}" for entry in lines)
    assert sum(entry.lines for entry in entries if isinstance(entry, LogCut)) == many - len(lines) > 0


async def test_log_rejects_invalid_parameters(kit: TestKit) -> None:
    job = await kit.make_job()
    questions: list[dict[str, Any]] = [{"attempt": 0}, {"after": "here"}, {"limit": 0}, {"limit": 10_001}]
    for question in questions:
        with pytest.raises(InvalidInput):
            await kit.app.log(job, **question)
    with pytest.raises(InvalidInput):
        await kit.app.log(7)  # type: ignore[arg-type]
    with pytest.raises(JobNotFound):
        await kit.app.log("01a1e189-eda6-7180-9760-000000000000")
    assert (await job.log()).entries == ()


async def test_pruning_takes_the_log(kit: TestKit) -> None:
    @kit.app.task
    async def work(ctx: Context) -> None:
        ctx.log("words")

    job = await kit.app.enqueue(work)
    await kit.tick()
    await kit.advance(31 * 86_400)
    await kit.prune()
    with pytest.raises(JobNotFound):
        await job.log()
