"""The office of agents: real programs, watched over HTTP until all jobs are done."""

import asyncio
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from hanbeon.client import Client
from tests.cli.hanbeon import EXAMPLES, environment, hanbeon
from tests.cli.workers import Running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example as in a fresh clone, without generated files."""
    copy = tmp_path / "agents"
    shutil.copytree(EXAMPLES / "agents", copy, ignore=lambda path, names: _generated(Path(path), names))
    return copy


def _generated(path: Path, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__" or (path.name == "out" and name != ".gitignore")]


def _first_run(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(folder / "first_run.py"), "http://127.0.0.1:1"],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder.parent,
        env=environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


async def test_all_agents_succeed_and_the_tester_retries_once(folder: Path) -> None:
    before = _outside(folder)
    assert _first_run(folder) == _first_run(folder)  # The office is opened once.
    config = str(folder / "hanbeon.toml")
    with Running("serve", "--config", config, "--port", "0", cwd=folder.parent) as running:
        url = (await asyncio.to_thread(running.until, "server_started"))["url"]
        await asyncio.to_thread(_watch, url)
        running.process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(running.process.wait, 60) == 0
    with tarfile.open(folder / "out" / "guestbook" / "release.tar.gz") as release:
        assert release.getnames() == ["index.html", "server.py"]
    assert _outside(folder) == before


def _watch(url: str) -> None:
    with Client(url) as client:
        (made,) = client.offices.list()
        office = client.office(made.id)
        jobs = list(office.jobs())
        assert [job.role for job in jobs] == ["PO", "Architect", "FE", "BE", "QA", "DevOps"]
        ended = {job.role: office.wait(job, timeout=100) for job in jobs}
        assert {job.status for job in ended.values()} == {"done"}, ended
        assert [each.status for each in ended["QA"].executions] == ["failed", "completed"]
        assert "staging was not up to date; it is now" in (ended["QA"].executions[0].error_message or "")
        assert len(ended["QA"].result["passed"]) == 3
        assert [each.text for each in office.log(jobs[0]).entries] == ["What should 'Guest book' do?", "3 stories"]
        types = []
        for event in office.events():
            types.append(event.type.value)
            if event.job_id == jobs[-1].id and event.type == "job_completed":
                break
        assert types.count("job_retrying") == 1
        assert office.stats().done == 6


def _outside(folder: Path) -> set[Path]:
    """Return the files of the example, without those that it may write."""
    return {path for path in folder.rglob("*") if not {"out", "__pycache__"} & set(path.parts)}


def test_the_file_is_valid_and_another_run_can_be_added(folder: Path) -> None:
    _first_run(folder)
    assert hanbeon("config", "check", cwd=folder).returncode == 0
    added = hanbeon("office", "add", "Agents", "run.json", cwd=folder)
    assert (added.returncode, len(added.stdout.split())) == (0, 6)
