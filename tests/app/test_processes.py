"""Plain functions with a timeout: in processes, on both stores."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, State
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.errors import InvalidInput, ProcessesUnsupported
from hanbeon.executors.process.executor import ProcessExecutor
from hanbeon.executors.supervisor_client import SupervisorClient
from hanbeon.settings import load_settings
from hanbeon.tasks.task import Task
from hanbeon.testing import TestKit
from tests.executors import bodies
from tests.executors.workbench import alive, numbers
from tests.storm.journal import Journal


def registered(app: App, task: Task[..., Any], **options: Any) -> Task[..., Any]:
    return app.task(**options)(task.function)


def test_function_with_timeout_or_limit_runs_in_a_process() -> None:
    app = App()
    assert registered(app, bodies.add, timeout=5).executor == "process"
    assert registered(app, bodies.whoami, memory="1GB").executor == "process"
    assert registered(app, bodies.sleep).executor == "thread"


async def test_a_timeout_is_kept(app_url: str) -> None:
    async with App(app_url, stop_grace=0.3, poll=600, lease=600) as app, app.worker():
        add, sleep = registered(app, bodies.add, timeout=30), registered(app, bodies.sleep, timeout=0.3, retries=1)
        assert await (await app.enqueue(add.call(1, b=2))).result(30) == 3
        record = await (await app.enqueue(sleep, retries=0)).wait(30)
        assert (record.state, record.failure_type) == (State.FAILED, "timeout")
        assert (record.finished_at or 0) - (record.started_at or 0) < 30_000_000, "nobody waits for a poll"
        assert record.error_message == "Job execution timed out"


async def test_a_crash_is_a_session_error_and_tried_again(app: App) -> None:
    end = registered(app, bodies.end, executor="process", retries=1, retry_delay=0)
    async with app.worker():
        job = await app.enqueue(end.call("segfault"))
        record = await job.wait(30)
    assert (record.failure_type, record.error_message) == ("session_error", "the worker process was killed by SIGSEGV")
    assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.FAILED] * 2


async def test_progress_and_children_of_a_process(app: App) -> None:
    registered(app, bodies.add)
    noting = registered(app, bodies.noting, executor="process")
    bearing = registered(app, bodies.bearing, executor="process")
    in_vain = registered(app, bodies.bearing_in_vain, executor="process", retries=1, retry_delay=0)
    async with app.worker():
        job = await app.enqueue(noting.call({"done": 0.5}))
        await job.wait(30)
        assert (await job.record()).progress == '{"done":0.5}'
        ids = await (await app.enqueue(bearing.call(2))).result(30)
        assert [await app.job(each).result(30) for each in ids] == [0, 1]
        assert (await (await app.enqueue(in_vain)).wait(30)).state is State.SUCCEEDED
    assert len(await app.jobs(task="add")) == 3, "of the attempt that failed there is no child"


async def test_stopping_worker_gives_a_process_its_grace_period(app_url: str, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    async with App(app_url, shutdown_grace=0, stop_grace=1.5, lease=10) as app:
        stubborn = registered(app, bodies.stubborn, executor="process")
        async with app.worker():
            job = await app.enqueue(stubborn.call(str(journal), kind="daemon"))
            processes = await numbers(journal)
            left_at = time.monotonic()
        assert time.monotonic() - left_at >= 1.5
        assert not any(alive(pid) for pid in processes)
        assert await job.state() is State.READY
        assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.RELEASED]


async def test_the_test_kit_runs_processes_too(kit: TestKit) -> None:
    add = registered(kit.app, bodies.add, timeout=30)
    job = await kit.app.enqueue(add.call(1))
    assert await kit.tick() == 1
    assert await job.result(20) == 1


SCRIPT = """
import asyncio, os, sys
from hanbeon import App

app = App("sqlite:///" + os.path.join(os.path.dirname(__file__), "jobs.db"))
print("loaded as", __name__, flush=True)

@app.task(timeout=30, retries=0)
def where(name: str) -> list:
    return [name, os.getpid(), __name__]

async def main():
    async with app, app.worker():
        job = await app.enqueue(where.call("x"))
        name, pid, module = await job.result(30)
        assert (name, module) == ("x", "__mp_main__"), module
        assert pid != os.getpid()
        print("in another process")

{guard}asyncio.run(main())
"""


@pytest.mark.parametrize("as_module", [False, True])
def test_a_task_of_the_program_itself(tmp_path: Path, as_module: bool) -> None:
    script = tmp_path / "program.py"
    script.write_text(SCRIPT.format(guard='if __name__ == "__main__":\n    '))
    argv = ["-m", "program"] if as_module else [str(script)]
    ran = subprocess.run(
        [sys.executable, *argv], capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["loaded as __main__", "loaded as __mp_main__", "in another process"]


def test_program_without_main_guard_fails_with_a_remedy(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(SCRIPT.format(guard=""))
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode != 0
    assert 'put what runs the program behind `if __name__ == "__main__":`' in ran.stderr
    assert "session_error" in ran.stderr


async def test_a_function_that_is_not_there_is_a_session_error(app: App) -> None:
    def gone() -> None: ...

    gone.__qualname__, gone.__module__ = "gone", "tests.executors.bodies"
    task = app.task(executor="process", retries=0)(gone)
    async with app.worker():
        record = await (await app.enqueue(task)).wait(30)
    assert record.failure_type == "session_error"
    assert "a worker process cannot load tests.executors.bodies.gone: AttributeError" in (record.error_message or "")


async def test_elsewhere_than_on_linux_it_is_refused(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    app.worker()
    registered(app, bodies.add, timeout=5)
    with pytest.raises(
        ProcessesUnsupported, match="tasks add run in processes that can be killed reliably only on Linux"
    ):
        app.worker()


@pytest.mark.parametrize(
    ("given", "grace", "stop_seconds"),
    [
        ({}, 5.0, 5.5),
        ({"lease": 2.0}, 0.5, 0.6),
        ({"lease": 2.0, "stop_grace": 0.1}, 0.1, 0.2),
        ({"stop_grace": 0}, 0, 0.5),
    ],
)
async def test_the_grace_fits_into_the_lease(given: dict[str, Any], grace: float, stop_seconds: float) -> None:
    settings = load_settings(**given)
    assert settings.grace == grace
    assert ProcessExecutor(settings, App().clock, SupervisorClient()).stop_seconds == pytest.approx(stop_seconds)


def test_rejects_grace_longer_than_the_lease_allows() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"must be at most 7.5, .* lease of 30 s, got 20; .* raise the lease to 80",
    ):
        App(stop_grace=20)


async def test_many_at_once(app: App) -> None:
    """More jobs than processes that are kept; none waits for another."""
    whoami = registered(app, bodies.whoami, timeout=30)
    async with app.worker(concurrency=6):
        jobs = await app.enqueue_many(whoami.call() for _ in range(30))
        pids = await asyncio.gather(*(job.result(60) for job in jobs))
    assert 1 <= len(set(pids)) <= 6
