"""`hanbeon worker`: loads an App by name, runs its jobs, and stops cleanly."""

import os
import pty
import signal
from pathlib import Path

import pytest

from examples import quickstart
from tests.cli.hanbeon import EXAMPLES, hanbeon
from tests.cli.workers import Running

_TARGET = ("worker", "--app", "quickstart:app")


async def test_worker_runs_jobs_and_stops_on_sigterm(database_url: str) -> None:
    app = quickstart.app
    app.settings = app.settings.model_copy(update={"database_url": database_url})
    await app.migrate()
    async with app:
        job = await app.enqueue(quickstart.greet.call("Ada"))
        with Running(*_TARGET, "--database", database_url, "--concurrency", "3") as worker:
            started = worker.until("worker_started")
            assert started["tasks"] == ["greet"]
            assert (started["level"], started["logger"]) == ("info", "hanbeon.engine")
            assert await job.result(timeout=30) == "Hello, Ada! (attempt 1)"
            (instance,) = await app.instances()
            assert (instance.pid, instance.capacity) == (worker.process.pid, 3)
            worker.process.send_signal(signal.SIGTERM)
            worker.until("worker_stopped")
            assert worker.process.wait(30) == 0
        (instance,) = await app.instances()
        assert instance.stopped_at is not None


def test_logs_on_a_terminal_are_for_people(sqlite_url: str) -> None:
    ours, theirs = pty.openpty()
    with Running(*_TARGET, "--database", sqlite_url, stderr=theirs) as worker:
        os.close(theirs)
        seen = b""
        while b"worker_started" not in seen:
            seen += os.read(ours, 1000)
        worker.process.send_signal(signal.SIGINT)
        assert worker.process.wait(30) == 0
    os.close(ours)
    assert b"{" not in seen


def test_error_for_a_wrong_app_name_lists_the_apps() -> None:
    done = hanbeon("worker", "--app", "quickstart:ap", cwd=EXAMPLES)
    assert (done.returncode, done.stderr) == (
        2,
        "error: app: must name an App, got 'ap' in quickstart; the module has app\n",
    )


@pytest.mark.parametrize("body", ["import no_such_module\n", "1 / 0\n"])
def test_a_defect_of_the_module_shows_its_traceback(tmp_path: Path, body: str) -> None:
    (tmp_path / "broken.py").write_text(body)
    done = hanbeon("worker", "--app", "broken:app", cwd=tmp_path)
    assert done.returncode == 70
    assert "broken.py" in done.stderr


def test_postgresql_without_a_schema_is_refused(empty_postgres_url: str) -> None:
    done = hanbeon(*_TARGET, "--database", empty_postgres_url, cwd=EXAMPLES)
    assert done.returncode == 5
    assert done.stderr.startswith("error: the database has no Hanbeon tables yet; run `hanbeon migrate --app ")
