"""A body that blocks the event loop costs its worker time, and no job."""

import asyncio
import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, State, SyncApp
from hanbeon.cli import exits
from hanbeon.domain.explain import Explanation
from hanbeon.domain.log import LogLine, LogStream
from hanbeon.engine.watchdog import EXIT_CODE
from hanbeon.job import Job
from tests.cli.workers import Running

LEASE = 6.0


def blocking(seconds: float, until: threading.Event | None = None) -> None:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at and not (until is not None and until.is_set()):
        time.sleep(0.05)


def said(caplog: pytest.LogCaptureFixture, event: str) -> list[str]:
    return [text for record in caplog.records if (text := record.getMessage()).split()[0] == event]


async def engine_lines(job: Job[Any]) -> list[str]:
    found = (await job.log()).entries
    return [each.text for each in found if isinstance(each, LogLine) and each.stream is LogStream.ENGINE]


@pytest.mark.parametrize(
    ("lease", "seconds"),
    [
        pytest.param(LEASE, 2.5 * LEASE, id="short"),
        pytest.param(30.0, 60.0, id="default", marks=pytest.mark.slow),
    ],
)
async def test_body_that_blocks_the_loop_runs_once(
    app_url: str, caplog: pytest.LogCaptureFixture, lease: float, seconds: float
) -> None:
    caplog.set_level(logging.INFO, "hanbeon")
    runs: list[str] = []
    async with App(app_url, lease=lease) as app:

        @app.task(retries=0)
        async def sleeper(name: str) -> str:
            runs.append(name)
            blocking(seconds)
            return name

        @app.task(retries=0)
        async def neighbour() -> str:
            runs.append("neighbour")
            await asyncio.sleep(1)
            return "unharmed"

        async with app.worker():
            beside = await app.enqueue(neighbour)
            job = await app.enqueue(sleeper.call("Ada"))
            assert await job.result(300) == "Ada"
            assert await beside.result(300) == "unharmed"
        records = [await job.record(), await beside.record()]
        assert [(record.state, record.fence) for record in records] == [(State.SUCCEEDED, 1)] * 2
        lines = await engine_lines(job)
    assert sorted(runs) == ["Ada", "neighbour"]
    stacks = [text for text in said(caplog, "event_loop_blocked") if "Stack" in text]
    assert len(stacks) == 1
    assert f"job='{job.id}' task='sleeper'" in stacks[0]
    assert "blocking(seconds)" in stacks[0]
    assert "hanbeon/executors" not in stacks[0]
    assert said(caplog, "database_unavailable") == said(caplog, "lease_lost") == []
    assert lines[0].startswith("The body has blocked the event loop of its worker for ")
    assert any("blocking(seconds)" in line for line in lines)


async def test_explain_names_what_blocks_the_loop(app_url: str) -> None:
    seen: list[Explanation] = []
    done = threading.Event()

    async with App(app_url, lease=LEASE) as app:

        @app.task(retries=0)
        async def sleeper() -> None:
            blocking(150, done)

        def look(job_id: str) -> None:
            try:
                with SyncApp(App(app_url)) as other:
                    ends_at = time.monotonic() + 120
                    while time.monotonic() < ends_at and not seen:
                        found = other.explain(job_id)
                        seen.extend([found] if len(found.reasons) == 2 else [])
                        time.sleep(0.1)
            finally:
                done.set()

        job = await app.enqueue(sleeper)
        watcher = threading.Thread(target=look, args=(job.id,))
        async with app.worker():
            watcher.start()
            await job.result(300)
        watcher.join()
        assert (await app.explain(job.id)).reasons[0].code == "finished"
    (found,) = seen
    assert [each.code for each in found.reasons] == ["running", "event_loop_blocked"]
    assert found.reasons[1].text.startswith("Its body has blocked the event loop of its worker for ")
    assert found.reasons[1].text.endswith("make the task a plain function.")
    assert found.reasons[1].details["job"] == job.id


BLOCKED_APP = """
import time
from hanbeon import App

app = App(lease=4, poll=0.5)

@app.task(retries=0, timeout=2)
async def sleeper() -> None:
    time.sleep(900)
"""


async def nothing() -> None:
    return None


async def test_worker_that_is_blocked_past_a_deadline_ends_itself(app_url: str, tmp_path: Path) -> None:
    (tmp_path / "blocked_app.py").write_text(BLOCKED_APP)
    async with App(app_url, lease=4, poll=0.5) as app:
        app.task(retries=0, timeout=2, name="sleeper")(nothing)
        with Running("worker", "--app", "blocked_app:app", "--database", app_url, cwd=tmp_path) as worker:
            worker.until("worker_started")
            job = await app.enqueue("sleeper")
            ended = worker.until("blocked_worker_ends")
            assert (ended["job"], ended["task"]) == (job.id, "sleeper")
            assert worker.process.wait(30) == exits.BLOCKED == EXIT_CODE
        async with app.worker():
            record = await job.wait(60)
        assert (record.state, record.failure_type, record.fence) == (State.FAILED, "timeout", 1)
