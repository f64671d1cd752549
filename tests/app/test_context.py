"""The task context while a body runs, on both stores, from coroutines and threads."""

import asyncio
import threading

import pytest

from hanbeon import App, Context, State, SyncContext
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.errors import JobFailed
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.testing import TestKit

CREATE = "CREATE TABLE effect (word text NOT NULL)"
DROP = "DROP TABLE IF EXISTS effect"


async def rows(kit: TestKit) -> list[str]:
    """Return the committed rows of the user's own table."""
    transaction = await kit.app.store.begin()
    try:
        return [row["word"] for row in await transaction.fetch("SELECT word FROM effect ORDER BY word")]
    finally:
        await transaction.abandon()


@pytest.fixture
async def table(kit: TestKit) -> None:
    """Create a user's own table next to the engine's."""

    @kit.app.task(name="create the table")
    async def create(ctx: Context) -> None:
        transaction = await ctx.transaction()
        await transaction.execute(DROP)
        await transaction.execute(CREATE)

    await kit.app.enqueue(create)
    assert await kit.tick() == 1
    assert await rows(kit) == []


async def test_progress_is_seen_while_the_body_runs(kit: TestKit) -> None:
    go, noted = asyncio.Event(), asyncio.Event()

    @kit.app.task
    async def work(ctx: Context) -> None:
        await ctx.progress({"done": 40})
        noted.set()
        await go.wait()
        await ctx.progress(100)

    job = await kit.app.enqueue(work)
    await kit.start_ready()
    await asyncio.wait_for(noted.wait(), 5)
    assert (await job.record()).progress == '{"done":40}'
    go.set()
    await kit.settle()
    assert (await job.record()).progress == "100"


async def test_progress_that_cannot_be_kept_is_refused(kit_url: str) -> None:
    async with TestKit(App(max_payload_bytes=1024), kit_url) as kit:

        @kit.app.task
        async def work(ctx: Context, big: bool) -> None:
            await ctx.progress("x" * 2000 if big else object())

        jobs = await kit.app.enqueue_many([work.call(True), work.call(False)])
        await kit.run_all()
        messages = [(await job.record()).error_message or "" for job in jobs]
        assert messages[0].startswith("PayloadTooLarge: progress: must be at most 1,024 bytes, got 2,002")
        assert messages[1].startswith("NotSerialisable: progress: progress cannot be encoded as JSON")


@pytest.mark.usefixtures("table")
async def test_a_transaction_commits_with_the_success_and_only_then(kit: TestKit) -> None:
    go, written = asyncio.Event(), asyncio.Event()

    @kit.app.task(retries=0)
    async def write(ctx: Context, word: str, fail: bool) -> int:
        transaction = await ctx.transaction()
        assert await ctx.transaction() is transaction
        parameter = "$1" if kit.app.settings.database_url.startswith("postgres") else "?"
        await transaction.execute(f"INSERT INTO effect (word) VALUES ({parameter})", word)
        written.set()
        await go.wait()
        if fail:
            raise ValueError("after writing")
        return len(await transaction.fetch("SELECT word FROM effect"))

    good = await kit.app.enqueue(write.call("good", fail=False))
    await kit.start_ready()
    await asyncio.wait_for(written.wait(), 5)
    assert await rows_of_others(kit) == []
    go.set()
    await kit.settle()
    assert await good.result(20) == 1
    bad = await kit.app.enqueue(write.call("bad", fail=True))
    await kit.run_all()
    assert await bad.state() is State.FAILED
    assert await rows(kit) == ["good"]


async def rows_of_others(kit: TestKit) -> list[str]:
    """Return the rows that others see meanwhile; SQLite allows one write transaction, so read them another way."""
    database = kit.app.store.database
    if isinstance(database, PostgresDatabase):
        return await rows(kit)
    assert database._reader is not None
    found = await database._reader.run(database._reader.rows, "SELECT word FROM effect", ())
    return [row["word"] for row in found]


@pytest.mark.usefixtures("table")
async def test_a_cancelled_or_timed_out_body_leaves_nothing_behind(kit: TestKit) -> None:
    @kit.app.task(retries=0, timeout=5)
    async def write(ctx: Context) -> None:
        transaction = await ctx.transaction()
        await transaction.execute("INSERT INTO effect (word) VALUES ('half')")
        await ctx.enqueue(write.call())
        await asyncio.Event().wait()

    cancelled = await kit.app.enqueue(write)
    await kit.start_ready()
    await cancelled.cancel()
    await kit.settle()
    late = await kit.app.enqueue(write)
    await kit.start_ready()
    await kit.advance(5)
    await kit.settle()
    assert [await job.state() for job in (cancelled, late)] == [State.CANCELLED, State.FAILED]
    assert await rows(kit) == []
    assert len(await kit.app.jobs(task="write")) == 2


@pytest.mark.usefixtures("table")
async def test_a_transaction_asked_for_twice_at_once_is_one(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def write(ctx: Context) -> bool:
        one, two = await asyncio.gather(ctx.transaction(), ctx.transaction())
        await one.execute("INSERT INTO effect (word) VALUES ('a')")
        await two.execute("INSERT INTO effect (word) VALUES ('b')")
        return one is two

    job = await kit.app.enqueue(write)
    await kit.run_all()
    assert await job.result(20)
    assert await rows(kit) == ["a", "b"]


@pytest.mark.usefixtures("table")
async def test_hidden_statement_error_fails_the_job_on_postgresql(kit: TestKit) -> None:
    """On PostgreSQL a failed statement aborts the transaction; on SQLite it continues, and so may the body."""

    @kit.app.task(retries=0)
    async def write(ctx: Context) -> None:
        transaction = await ctx.transaction()
        await transaction.execute("INSERT INTO effect (word) VALUES ('kept?')")
        with pytest.raises(Exception, match=r"effect|NOT NULL|null"):
            await transaction.execute("INSERT INTO effect (word) VALUES (NULL)")

    job = await kit.app.enqueue(write)
    await kit.run_all()
    if kit.app.settings.database_url.startswith("postgres"):
        assert "transaction is aborted" in ((await job.record()).error_message or "")
        assert await rows(kit) == []
    else:
        assert await job.state() is State.SUCCEEDED
        assert await rows(kit) == ["kept?"]


@pytest.mark.parametrize("word", ["COMMIT", "ROLLBACK"])
async def test_body_that_ends_its_transaction_does_not_succeed(kit: TestKit, word: str) -> None:
    @kit.app.task(retries=0)
    async def write(ctx: Context) -> None:
        transaction = await ctx.transaction()
        await transaction.execute(word)

    job = await kit.app.enqueue(write)
    await kit.run_all()
    with pytest.raises(
        JobFailed, match="was ended by a COMMIT or ROLLBACK of yours; write through it, but leave its end"
    ):
        await job.result(20)


async def test_children_exist_if_and_only_if_the_parent_succeeds(kit: TestKit) -> None:
    @kit.app.task
    async def child(word: str) -> str:
        return word

    @kit.app.task(retries=1, retry_delay=1)
    async def parent(ctx: Context, fail_first: bool) -> list[str]:
        first = child.call("first")
        ids = [await ctx.enqueue(first), await ctx.enqueue(child.call("second").set(after=[first], queue="default"))]
        assert ids[0] == first.id
        if fail_first and ctx.attempt == 1:
            raise ValueError("children, too, are taken back")
        return ids

    job = await kit.app.enqueue(parent.call(fail_first=True))
    await kit.tick()
    assert await kit.app.jobs(task="child") == []
    await kit.run_all()
    children = await kit.app.jobs(task="child")
    assert [record.id for record in children] == await job.result(20)
    assert [record.state for record in children] == [State.SUCCEEDED] * 2


async def test_children_that_cannot_be_made_fail_the_parent(kit: TestKit) -> None:
    @kit.app.task
    async def child() -> None: ...

    @kit.app.task(retries=0)
    async def parent(ctx: Context) -> None:
        await ctx.enqueue(child.call())
        await ctx.enqueue(child.call().set(unique_key="taken"))

    await kit.make_job("somebody", unique_key="taken")
    job = await kit.app.enqueue(parent)
    await kit.run_all()
    assert (await job.record()).failure_type == "unique_key_taken"
    assert await kit.app.jobs(task="child") == []


async def test_invalid_child_is_rejected_in_the_body(kit: TestKit) -> None:
    @kit.app.task
    async def child() -> None: ...

    @kit.app.task(retries=0)
    async def parent(ctx: Context) -> None:
        await ctx.enqueue(child.call().set(delay=-1))

    job = await kit.app.enqueue(parent)
    await kit.run_all()
    with pytest.raises(JobFailed, match=r"\(invalid\): InvalidInput: delay: must not be negative"):
        await job.result(20)


async def test_the_idempotency_key_stays_and_the_fence_grows(kit: TestKit) -> None:
    seen: list[tuple[str, int, int]] = []
    sessions: set[str] = set()

    @kit.app.task(retries=2, retry_delay=1)
    async def work(ctx: Context) -> None:
        seen.append((ctx.idempotency_key, ctx.fence, ctx.retry_count))
        sessions.add(ctx.session_id)
        raise ValueError

    job = await kit.app.enqueue(work)
    await kit.run_all()
    await kit.app.retry(job)
    await kit.tick()
    assert seen == [(job.id, 1, 0), (job.id, 2, 1), (job.id, 3, 2), (job.id, 4, 0)]
    assert len(sessions) == 4


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_retry_in_burns_no_retry_and_is_no_failure(kit: TestKit, kind: str) -> None:
    if kind == "async":

        @kit.app.task(retries=0)
        async def work(ctx: Context) -> int:
            try:
                if ctx.attempt <= 3:
                    ctx.retry_in(120, "not yet")
            except Exception:  # The body cannot hide it.
                pytest.fail("a request to be put off is no error")
            return ctx.attempt

        job = await kit.app.enqueue(work)
    else:

        @kit.app.task(retries=0, name="work in a thread")
        def threaded(ctx: SyncContext) -> int:
            if ctx.attempt <= 3:
                ctx.retry_in(120, "not yet")
            return ctx.attempt

        job = await kit.app.enqueue(threaded)
    before = kit.clock.now_us()
    assert await kit.run_all() == 4
    assert await job.result(20) == 4
    assert (kit.clock.now_us() - before) / 1_000_000 == pytest.approx(360)
    attempts = await job.attempts()
    assert [attempt.status for attempt in attempts] == [AttemptStatus.RELEASED] * 3 + [AttemptStatus.COMPLETED]
    assert [attempt.message for attempt in attempts] == ["not yet"] * 3 + [None]
    assert (await job.record()).retry_count == 0


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e12])
async def test_retry_in_for_no_time_at_all_is_refused(kit: TestKit, seconds: float) -> None:
    @kit.app.task
    async def work(ctx: Context) -> None:
        ctx.retry_in(seconds)

    job = await kit.app.enqueue(work)
    assert await kit.run_all() == 1
    with pytest.raises(JobFailed, match=r"\(invalid\): InvalidInput: seconds: must be from 0 to"):
        await job.result(20)


@pytest.mark.usefixtures("table")
async def test_threads_have_the_same_blocking(kit: TestKit) -> None:
    @kit.app.task
    async def child() -> None: ...

    @kit.app.task(retries=0)
    def work(ctx: SyncContext, fail: bool) -> list[str]:
        ctx.progress({"thread": threading.current_thread().name[:12]})
        transaction = ctx.transaction()
        transaction.execute("INSERT INTO effect (word) VALUES ('thread')")
        ctx.enqueue(child.call())
        if fail:
            raise ValueError("after everything")
        return [row["word"] for row in transaction.fetch("SELECT word FROM effect")]

    bad = await kit.app.enqueue(work.call(fail=True))
    await kit.run_all()
    assert await bad.state() is State.FAILED
    assert (await rows(kit), await kit.app.jobs(task="child")) == ([], [])

    good = await kit.app.enqueue(work.call(fail=False))
    await kit.tick()
    assert await good.result(20) == ["thread"]
    assert (await good.record()).progress == '{"thread":"hanbeon-task"}'
    assert await rows(kit) == ["thread"]
    assert len(await kit.app.jobs(task="child")) == 1


async def test_a_superseded_attempt_can_write_nothing_more(kit: TestKit) -> None:
    """It is stuck for longer than its lease, another worker takes the job, and it wakes up late."""
    go = asyncio.Event()
    errors: list[str] = []

    @kit.app.task(retries=1, retry_delay=0)
    async def work(ctx: Context) -> str:
        if ctx.attempt == 1:
            try:
                await go.wait()
            except asyncio.CancelledError:
                try:
                    await ctx.progress("late")
                except Exception as error:
                    errors.append(type(error).__name__)
                return "late"
        return f"attempt {ctx.attempt}"

    job = await kit.app.enqueue(work)
    await kit.start_ready()
    await kit.clock.advance(kit.app.settings.lease + 1)
    await kit.run_all()
    assert await job.result(20) == "attempt 2"
    assert errors == ["LeaseLost"]
    assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.LOST, AttemptStatus.COMPLETED]
    assert (await job.record()).progress is None
