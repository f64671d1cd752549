"""The App without an event loop, on both databases."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hanbeon import App, Context, JobFailed, State, SyncApp, Task
from hanbeon.errors import AppNotOpen, DatabaseUnavailable, InsideEventLoop, JobNotFound, WaitTimeout
from tests.sync.workers import working

Shout = Task[[str], str]


@pytest.fixture
def app(app_url: str) -> App:
    return App(app_url, shutdown_grace=0.2)


@pytest.fixture
def shout(app: App) -> Shout:
    @app.task(retries=0)
    async def shout(word: str) -> str:
        if not word:
            raise ValueError("nothing to shout")
        return word.upper()

    return shout


@pytest.fixture
def jobs(app: App, shout: Shout) -> Iterator[SyncApp]:
    with SyncApp(app) as jobs:
        yield jobs


def test_make_a_job_and_wait_for_its_result(app: App, jobs: SyncApp, shout: Shout) -> None:
    with working(app):
        job = jobs.enqueue(shout.call("hey"))
        assert job.result(timeout=20) == "HEY"
        assert (job.state(), job.created, len(job.attempts()), job.blocked_by()) == (State.SUCCEEDED, True, 1, [])
        assert jobs.enqueue("shout", {"word": "name"}).wait(timeout=20).result == '"NAME"'
        with pytest.raises(JobFailed, match="nothing to shout"):
            jobs.enqueue(shout.call("")).result(timeout=20)
    assert jobs.counts()[State.SUCCEEDED] == 2
    assert [event.type for event in jobs.events_after()][:1] == ["enqueued"]


def test_read_a_log(app: App, jobs: SyncApp) -> None:
    @app.task
    async def talk(ctx: Context) -> None:
        ctx.log("one\ntwo")

    with working(app):
        job = jobs.enqueue(talk)
        job.result(timeout=20)
    page = jobs.log(job, limit=1)
    assert ([entry.line for entry in page.entries], page.more) == ([1], True)
    assert [entry.line for entry in job.log(after=page.after).entries] == [2]
    assert jobs.log(job.id, attempt=2).entries == ()


def test_remaining_methods_work_without_an_event_loop(jobs: SyncApp, shout: Shout) -> None:
    first, second = jobs.enqueue_many([shout.call("a").set(delay=60), shout.call("b").set(role="r")])
    behind = jobs.enqueue(shout.call("c"), after=[first], queue="default")
    assert [record.id for record in jobs.jobs(states=["pending"])] == [first.id, behind.id]
    assert [record.id for record in jobs.jobs(states=["pending"], newest=True)] == [behind.id, first.id]
    jobs.reprioritise(first, priority=5)
    assert first.record().priority == 5
    assert not jobs.explain(first).runnable
    assert jobs.cancel(first) is State.CANCELLED
    assert behind.blocked_by() == [first.id]
    assert jobs.retry(first.id) is State.READY
    assert jobs.configure_queue("default", max_concurrent=2).limits.max_concurrent == 2
    assert jobs.pause("default").paused
    assert not jobs.resume("default").paused
    assert [queue.name for queue in jobs.queues()] == ["default"]
    assert jobs.cancel_where(role="r") == [second.id]
    assert jobs.job(second.id).state() is State.CANCELLED
    assert jobs.instances() == []
    with pytest.raises(JobNotFound):
        jobs.job("00000000-0000-0000-0000-000000000000").state()
    with pytest.raises(WaitTimeout):
        behind.result(timeout=0.01)
    seen = []
    for event in jobs.events():
        seen.append(event)
        if event.type == "cancelled" and event.job_id == second.id:
            break
    assert [event.id for event in seen] == list(range(1, len(seen) + 1))
    assert jobs.migrate() == []


def test_its_own_transaction(jobs: SyncApp, shout: Shout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.database.sqlite.USER_TRANSACTION_SECONDS", 60.0)
    made = []

    def change_my_mind(error: BaseException) -> None:
        with jobs.transaction() as tx:
            tx.execute("CREATE TABLE notes (word text)")
            made.append(jobs.enqueue(shout.call("a"), queue="new", transaction=tx))
            assert tx.fetch("SELECT count(*) AS n FROM notes")[0]["n"] == 0
            raise error

    began = time.monotonic()
    for error in (RuntimeError("changed my mind"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            change_my_mind(error)
        with pytest.raises(JobNotFound):
            made.pop().state()
    jobs.enqueue(shout.call("b"))  # No lock is held any more.
    assert time.monotonic() - began < 30
    with jobs.transaction() as tx:
        tx.execute("CREATE TABLE notes (word text)")
        job = jobs.enqueue(shout.call("a"), queue="new", transaction=tx)
        tx.execute("DROP TABLE notes")
    assert job.state() is State.READY
    with pytest.raises(DatabaseUnavailable, match="has ended"):
        tx.fetch("SELECT 1")


def test_many_threads_at_once(jobs: SyncApp, shout: Shout) -> None:
    with ThreadPoolExecutor(16) as threads:
        made = list(
            threads.map(lambda n: jobs.enqueue(shout.call(str(n % 50)), idempotency_key=str(n % 50)), range(200))
        )
    assert len({job.id for job in made}) == 50
    assert sum(job.created for job in made) == 50


def _is_open(jobs: SyncApp) -> bool:
    return jobs.is_open  # A call: mypy would take it that a property does not change.


def test_sync_app_opens_on_first_call_and_closes_for_good(app: App, shout: Shout) -> None:
    jobs = SyncApp(app)
    jobs.close()
    jobs = SyncApp(app)
    assert not _is_open(jobs)
    job = jobs.enqueue(shout.call("a"))
    assert _is_open(jobs)
    assert not app.is_open  # It is left open for asynchronous users.
    waiting = ThreadPoolExecutor(1).submit(job.result)
    jobs.close()
    jobs.close()
    with pytest.raises(AppNotOpen, match="was closed"):
        waiting.result(10)
    with pytest.raises(AppNotOpen, match="was closed"):
        jobs.counts()
    assert not [thread for thread in threading.enumerate() if thread.name == "hanbeon-sync"]
    assert jobs.open().counts()[State.READY] == 1
    jobs.close()


async def test_an_event_loop_is_not_blocked(app: App, shout: Shout) -> None:
    jobs = SyncApp(app)
    for call in (jobs.open, jobs.counts, jobs.close, jobs.migrate, lambda: jobs.enqueue(shout.call("a"))):
        with pytest.raises(InsideEventLoop, match=r"await app\.enqueue"):
            call()
    async with app:  # As the error message suggests, on the same App.
        await app.enqueue(shout.call("a"))


def test_ctrl_c_ends_the_waiting_and_nothing_else(jobs: SyncApp, shout: Shout) -> None:
    job = jobs.enqueue(shout.call("a"), delay=3600)
    main = threading.get_ident()
    for wait in (job.result, lambda: list(jobs.events())):
        timer = threading.Timer(1.0, signal.pthread_kill, (main, signal.SIGINT))
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - a slow machine must not be interrupted before it
            timer.start()
            wait()
        assert time.monotonic() - began < 30
        assert job.state() is State.PENDING


def test_a_database_that_is_not_there(tmp_path: Any) -> None:
    jobs = SyncApp(App(f"sqlite:///{tmp_path}/missing/jobs.db"))
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable, match="does not exist"):
            jobs.counts()
    with contextlib.closing(jobs):
        assert not jobs.is_open
    assert not [thread for thread in threading.enumerate() if thread.name == "hanbeon-sync"]
