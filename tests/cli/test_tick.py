"""`hanbeon tick`: an installation without workers, ticked repeatedly and concurrently."""

import asyncio
import datetime as dt
import json
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.lifecycle import State
from hanbeon.surfaces.schedules.service import Schedules
from hanbeon.surfaces.verify import verify
from tests.cli.hanbeon import EXAMPLES, environment, hanbeon
from tests.cli.workers import Running

_TASKS = """
import asyncio
from pathlib import Path
from hanbeon import App

app = App()

@app.task(retries=0)
async def mark(name: str) -> None:
    with open(name, "a") as file:
        file.write("x")

@app.task(retries=0)
async def wait(name: str) -> None:
    Path(name).touch()
    await asyncio.sleep(600)

@app.task(retries=0)
async def fail() -> None:
    raise ValueError("on purpose")
"""


async def _mark(name: str) -> None:
    """Placeholder with the signature of `mark` in the tick's process."""
    raise NotImplementedError


async def _wait(name: str) -> None:
    raise NotImplementedError


async def _fail() -> None:
    raise NotImplementedError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ticking.py").write_text(_TASKS)
    (tmp_path / "shortly.py").write_text(_TASKS.replace("App()", "App(lease=2)"))
    return tmp_path


@pytest.fixture
async def app(database_url: str) -> App:
    app = App(database_url)
    await app.migrate()
    for function in (_mark, _wait, _fail):
        app.task(name=function.__name__[1:], retries=0)(function)
    return app


def _arguments(app: App, *more: str, module: str = "ticking") -> tuple[str, ...]:
    return ("tick", "--app", f"{module}:app", "--database", app.settings.database_url, *more)


async def _tick(app: App, folder: Path, *more: str, **env: str) -> dict[str, Any]:
    arguments = _arguments(app, "--json", *more)
    done = await asyncio.to_thread(lambda: hanbeon(*arguments, cwd=folder, **env))  # type: ignore[arg-type]
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def _wait_for_file(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


async def test_one_tick_runs_all_that_can_run_now(app: App, folder: Path) -> None:
    async with app:
        mark, fail = app.tasks.get("mark"), app.tasks.get("fail")
        first = await app.enqueue(mark.call(str(folder / "first")))
        second = await app.enqueue(mark.call(str(folder / "second")), after=[first])
        due = await app.enqueue(mark.call(str(folder / "due")), delay=0.01)
        failing = await app.enqueue(fail.call())
        later = await app.enqueue(mark.call(str(folder / "later")), delay=3600)
        summary = await _tick(app, folder)
        assert summary["idle"] is True
        assert summary["ended"] == {"failed": 1, "succeeded": 3}
        assert summary["promoted"] >= 1
        states = [(await job.record()).state for job in (first, second, due, failing, later)]
        assert states == [State.SUCCEEDED] * 3 + [State.FAILED, State.PENDING]
        nothing = await _tick(app, folder)
        assert (nothing["idle"], nothing["ended"], nothing["recovered"]) == (True, {}, 0)
        assert all(each.stopped_at is not None for each in await app.instances())
        assert (await app.store.number_events(), await app.store.fold()) == (0, 0)  # All was counted.
        assert (await verify(app.store)).sound


async def test_schedules_that_are_due_fire_and_their_executions_run(app: App, folder: Path) -> None:
    async with app:
        await _tick(app, folder)  # From here on its tasks are known.
        soon = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=10)
        schedules = Schedules(app)
        made = await schedules.create(
            task="mark", run_at=soon.isoformat(), args={"name": str(folder / "fired")}, by="test"
        )
        fired: dict[str, int] = {}
        while not (await schedules.fires(made.id)).items:
            summary = await _tick(app, folder)
            assert summary["idle"] is True
            assert not fired
            fired = summary["fired"]
            await asyncio.sleep((soon - dt.datetime.now(dt.UTC)).total_seconds())
        assert fired == {"created": 1}
        assert (folder / "fired").read_text() == "x"
        (execution,) = (await schedules.executions(schedule=made.id)).items
        assert (execution.status, execution.type) == ("SUCCESS", "SCHEDULE")


async def test_summary_counts_fired_schedules(app: App, folder: Path) -> None:
    async with app:
        assert (await _tick(app, folder))["fired"] == {}
        await Schedules(app).create(task="fail", cron="* * * * * *", misfire="skip", by="test")
        summary = "fired none; "
        while summary.startswith("fired none; "):
            summary = await asyncio.to_thread(lambda: hanbeon(*_arguments(app), cwd=folder).stdout)
        assert re.match(r"fired \d+ created[^;]*; ended ", summary), summary


async def test_the_budget_ends_it_and_what_runs_is_handed_back(app: App, folder: Path) -> None:
    async with app:
        job = await app.enqueue(app.tasks.get("wait").call(str(folder / "began")))
        summary = await _tick(app, folder, "--budget", "8s")
        assert (folder / "began").exists()
        assert (summary["idle"], summary["ended"]) == (False, {"released": 1})
        record = await job.record()
        assert (record.state, record.retry_count) == (State.READY, 0)


async def test_many_at_once_run_everything_once(app: App, folder: Path) -> None:
    async with app:
        mark = app.tasks.get("mark")
        names = [folder / f"job {number}" for number in range(60)]
        await app.enqueue_many([mark.call(str(name)) for name in names])
        ticks = await asyncio.gather(*(_tick(app, folder, "--concurrency", "3") for _ in range(3)))
        assert all(each["idle"] for each in ticks), ticks
        assert sum(each["ended"].get("succeeded", 0) for each in ticks) == 60, (ticks, await app.counts())
        assert [name.read_text() for name in names] == ["x"] * 60
        assert (await verify(app.store)).sound


async def test_a_tick_recovers_jobs_of_a_killed_tick(app: App, folder: Path) -> None:
    async with app:
        job = await app.enqueue(app.tasks.get("wait").call(str(folder / "began")))
        with Running(*_arguments(app, module="shortly"), cwd=folder) as running:
            await asyncio.to_thread(_wait_for_file, folder / "began")
            running.process.send_signal(signal.SIGKILL)
            await asyncio.to_thread(running.process.wait, 30)
        summary: dict[str, Any] = {"recovered": 0}
        while not summary["recovered"]:  # Until its lease has ended.
            summary = await _tick(app, folder, "--budget", "2s")
        attempts = [attempt.status.value for attempt in await job.attempts()]
        assert attempts in (["lost"], ["lost", "released"]), "it runs again at once, if the budget allows"


async def test_a_signal_ends_it_early(app: App, folder: Path) -> None:
    async with app:
        await app.enqueue(app.tasks.get("wait").call(str(folder / "began")))
        with Running(*_arguments(app, "--budget", "10m"), cwd=folder) as running:
            await asyncio.to_thread(running.until, "worker_started")
            running.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(running.process.wait, 60) == 0


async def test_a_tick_prunes_old_jobs(app: App, folder: Path) -> None:
    async with app:
        job = await app.enqueue(app.tasks.get("mark").call(str(folder / "first")))
        await _tick(app, folder)
        pruned = 0
        while await app.jobs():  # Its first events may be old enough before it is.
            pruned += (await _tick(app, folder, HANBEON_RETENTION="0.5"))["pruned"]
        assert pruned
        assert job.id


@pytest.mark.parametrize("budget", ["0", "soon", "-1s"])
def test_rejects_an_invalid_budget(folder: Path, budget: str) -> None:
    done = hanbeon("tick", "--app", "ticking:app", "--budget", budget, cwd=folder)
    assert done.returncode == 2
    assert "budget" in done.stderr


@pytest.mark.parametrize("command", ["tick", "worker"])
def test_installation_without_tasks_is_worked(tmp_path: Path, command: str) -> None:
    """Workflows, exports and chains need none of the user's."""
    shutil.copy(EXAMPLES / "workflows" / "hanbeon.toml", tmp_path)
    named = ("--database", f"sqlite:///{tmp_path}/jobs.db")
    for options in ((), named):
        if command == "tick":
            done = hanbeon("tick", *options, cwd=tmp_path, MAIL_TARGET="json://localhost/")
            assert done.returncode == 0, done.stderr
        else:
            env = environment(MAIL_TARGET="json://localhost/")
            with Running("worker", *options, cwd=tmp_path, env=env) as worker:
                worker.until("worker_started")
        (tmp_path / "hanbeon.toml").unlink(missing_ok=True)
