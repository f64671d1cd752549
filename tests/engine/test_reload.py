"""A worker reads its file again: all that it says is in force afterwards, or nothing new is."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, State
from hanbeon.engine.source import RELOADABLE
from hanbeon.errors import DatabaseUnavailable
from hanbeon.store.operations import queues
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest
from hanbeon.store.tx import Tx
from hanbeon.testing import TestKit
from tests.config.files import write

_MODULE = """
import asyncio
go = asyncio.Event()

async def first() -> str:
    return "first"

async def second() -> str:
    return "second"

async def slow() -> str:
    await go.wait()
    return "slow"
"""
_TASK = '[tasks.{}]\npython = "reload_tasks:{}"\n'
_FIRST = _TASK.format("work", "first")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "reload_tasks.py").write_text(_MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "reload_tasks", raising=False)
    return tmp_path


@pytest.fixture
async def kit(folder: Path, kit_url: str) -> AsyncIterator[TestKit]:
    """A kit whose App comes from a file."""
    app = App.from_file(write(folder, _FIRST + "[queues.mail]\nmax_concurrent = 5\n"))
    async with TestKit(app, kit_url, limit=20) as kit:
        yield kit


async def _reload(kit: TestKit, folder: Path, text: str) -> None:
    write(folder, text)
    kit.worker.reload_soon()
    await kit.worker.reload.run_once()


async def _result(kit: TestKit, task: str) -> Any:
    job = await kit.app.enqueue(task)
    await kit.tick()
    return await job.result(timeout=60)


def _limits(kit: TestKit, queue: str) -> Any:
    async def read() -> Any:
        return next(each.limits for each in await kit.app.queues() if each.name == queue)

    return read()


async def test_tasks_are_added_changed_and_removed(kit: TestKit, folder: Path) -> None:
    assert await _result(kit, "work") == "first"
    waiting = await kit.app.enqueue("work", delay=60)
    await _reload(kit, folder, _TASK.format("work", "second") + _TASK.format("more", "first"))
    assert [await _result(kit, task) for task in ("work", "more")] == ["second", "first"]
    (instance,) = await kit.app.instances()
    assert sorted(instance.tasks) == ["more", "work"], "the others know at once"
    await kit.advance(60)
    await kit.tick()
    assert await waiting.result(timeout=1) == "second", "a job runs what its task is when it starts"
    left = await kit.app.enqueue("work")
    await _reload(kit, folder, _TASK.format("more", "first"))
    await kit.tick()
    assert await left.state() is State.READY, "there is no worker for it any more"
    (instance,) = await kit.app.instances()
    assert instance.tasks == ["more"]


async def test_reload_leaves_running_jobs_their_task(kit: TestKit, folder: Path) -> None:
    await _reload(kit, folder, _TASK.format("work", "slow"))
    job = await kit.app.enqueue("work")
    await kit.worker.start_ready()
    await _reload(kit, folder, "")
    sys.modules["reload_tasks"].go.set()
    await kit.worker.settle()
    assert await job.result(timeout=1) == "slow"


async def test_limits_are_declared_at_start_and_at_reload(kit: TestKit, folder: Path) -> None:
    await kit.tick()
    assert (await _limits(kit, "mail")).max_concurrent == 5
    await kit.app.configure_queue("mail", max_concurrent=1)
    await _reload(kit, folder, "[queues.mail]\nmax_concurrent = 5\n")
    assert (await _limits(kit, "mail")).max_concurrent == 1, "the file says the same as before"
    await _reload(kit, folder, "[queues.mail]\nmax_concurrent = 6\n[queues.new]\nmax_per_key = 1\n")
    assert (await _limits(kit, "mail")).max_concurrent == 6
    assert (await _limits(kit, "new")).max_per_key == 1
    await _reload(kit, folder, "")
    assert (await _limits(kit, "mail")).max_concurrent == 6


@pytest.mark.parametrize(
    "bad",
    [
        "[tasks.work\n",
        _TASK.format("more", "first") + _TASK.format("work", "nothing") + "[queues.mail]\nmax_concurrent = 1\n",
        _TASK.format("more", "first") + "[queues.mail]\nmax_concurrent = 1\n[queues.bad]\nmax_concurrent = -1\n",
        _TASK.format("more", "first") + "[settings]\nconcurrency = 0\n[queues.mail]\nmax_concurrent = 1\n",
        _TASK.format("own", "first") + "[queues.mail]\nmax_concurrent = 1\n",
    ],
)
async def test_of_a_bad_file_nothing_is_put_in_force(
    kit: TestKit, folder: Path, bad: str, caplog: pytest.LogCaptureFixture
) -> None:
    kit.app.task(name="own")(_own)
    await kit.tick()
    await _reload(kit, folder, bad)
    assert kit.app.tasks.names() == ["own", "work"]
    assert await _result(kit, "work") == "first"
    assert (await _limits(kit, "mail")).max_concurrent == 5
    assert [queue.name for queue in await kit.app.queues()] == ["default", "mail"]
    (entry,) = [record for record in caplog.records if "reload_refused" in record.getMessage()]
    assert entry.levelname == "ERROR"
    (folder / "hanbeon.toml").unlink()
    kit.worker.reload_soon()
    await kit.worker.reload.run_once()
    assert kit.app.tasks.names() == ["own", "work"]


async def _own() -> None:
    return


async def test_settings_that_can_change_do_and_the_others_are_named(
    kit: TestKit, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await kit.tick()
    text = (
        f"{_FIRST}[settings]\nconcurrency = 2\nlease = 99\ndatabase_url = 'postgresql://a:s3cr3t@h/x'\nretention='1d'\n"
    )
    await _reload(kit, folder, text)
    (instance,) = await kit.app.instances()
    assert instance.capacity == 2
    assert kit.worker.main.slots == kit.worker._settings.concurrency == 2
    assert kit.worker._maintenance.settings.retention == 86_400
    assert kit.worker._settings.lease == 30
    (entry,) = [record.getMessage() for record in caplog.records if "restart_needed" in record.getMessage()]
    assert "settings=['database_url', 'lease']" in entry
    assert "s3cr3t" not in caplog.text
    jobs = [await kit.app.enqueue("work") for _ in range(3)]
    await kit.worker.start_ready()
    assert [await job.state() for job in jobs].count(State.READY) == 1
    await kit.worker.settle()


async def test_reload_keeps_settings_passed_to_the_app(folder: Path, kit_url: str) -> None:
    app = App.from_file(write(folder, _FIRST), concurrency=7)
    async with TestKit(app, kit_url) as kit:
        await _reload(kit, folder, f"{_FIRST}[settings]\nconcurrency = 2\n")
        assert kit.worker._settings.concurrency == 7


async def test_a_task_that_goes_to_another_folder_does_not_lead_astray(
    folder: Path, kit_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    write(folder, _FIRST)
    async with TestKit(App.from_file("hanbeon.toml"), kit_url) as kit:
        monkeypatch.chdir("/")
        await _reload(kit, folder, _TASK.format("more", "first"))
        assert kit.app.tasks.names() == ["more"]


def test_only_settings_are_changed_at_once() -> None:
    assert set(App().settings.model_dump()) >= RELOADABLE


async def test_a_worker_without_a_file_does_nothing(app: App, caplog: pytest.LogCaptureFixture) -> None:
    app.task(name="own")(_own)
    worker = app.worker()
    worker.reload_soon()
    await worker.reload.run_once()
    assert "reload_ignored" in caplog.text
    assert app.tasks.names() == ["own"]


async def test_reload_is_retried_while_the_database_is_down(
    kit: TestKit, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kit.tick()
    declare = queues.declare_queues
    away = True

    async def declare_queues(tx: Tx, declared: Any) -> Any:
        if away:
            raise DatabaseUnavailable("it is away")
        return await declare(tx, declared)

    monkeypatch.setattr("hanbeon.engine.source.declare_queues", declare_queues)
    with pytest.raises(DatabaseUnavailable):
        await _reload(kit, folder, _TASK.format("more", "first"))
    assert kit.app.tasks.names() == ["work"]
    away = False
    await kit.worker.reload.run_once()
    assert kit.app.tasks.names() == ["more"]


async def test_a_claim_under_way_brings_no_job_of_a_task_that_is_gone(
    folder: Path, app_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App.from_file(write(folder, _FIRST), database_url=app_url)
    async with app:
        worker = app.worker()
        await worker.register()
        job = await app.enqueue("work")
        asked, answer = asyncio.Event(), asyncio.Event()
        claim = app.store.claim

        async def slow_claim(request: ClaimRequest) -> ClaimAnswer:
            answered = await claim(request)
            asked.set()
            await answer.wait()
            return answered

        monkeypatch.setattr(app.store, "claim", slow_claim)
        claiming = asyncio.ensure_future(worker.main.claim.run_once())
        await asked.wait()
        write(folder, "")
        worker.reload_soon()
        entering = asyncio.Event()
        at_rest = worker.main.claimer.at_rest

        @contextlib.asynccontextmanager
        async def noticed() -> AsyncIterator[None]:
            entering.set()
            async with at_rest():
                yield

        monkeypatch.setattr(worker.main.claimer, "at_rest", noticed)
        reloading = asyncio.ensure_future(worker.reload.run_once())
        await entering.wait()
        answer.set()
        await claiming
        await worker.settle()
        await reloading
        assert await job.result(timeout=1) == "first"
        assert app.tasks.names() == []
        await worker.stop()
