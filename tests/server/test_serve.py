"""`hanbeon serve` in processes of its own: it serves, works, and stops cleanly with what is in flight."""

import asyncio
import json
import os
import re
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO
from urllib.parse import quote

import pytest

from hanbeon import App
from hanbeon.domain.lifecycle import State
from hanbeon.server.context import ServerContext
from hanbeon.server.server import Server, bound
from hanbeon.surfaces.offices.service import Offices
from tests.cli.hanbeon import hanbeon
from tests.cli.workers import Running
from tests.server.client import Client

_TASKS = """
import asyncio
from pathlib import Path
from hanbeon import App

app = App()

@app.task
async def wait(began: str, end: str) -> str:
    Path(began).touch()
    while not Path(end).exists():
        await asyncio.sleep(0.02)
    return "waited"
"""


async def _wait(began: str, end: str) -> str:
    """Declares the parameters of the task of the same name in the server's process."""
    raise NotImplementedError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "waiting.py").write_text(_TASKS)
    return tmp_path


def _serve(folder: Path, url: str, *more: str) -> Running:
    return Running("serve", "--app", "waiting:app", "--database", url, "--port", "0", *more, cwd=folder)


async def _until(reached: Callable[[], bool]) -> None:
    """Poll until it is so, up to the test's own time limit."""

    def look() -> None:
        while not reached():
            time.sleep(0.02)

    await asyncio.to_thread(look)


async def test_serve_stops_after_the_job_in_flight(folder: Path, database_url: str) -> None:
    app = App(database_url)
    await app.migrate()
    began, end = folder / "began", folder / "end"
    async with app:
        app.task(name="wait")(_wait)
        with _serve(folder, database_url) as running:
            client = Client((await asyncio.to_thread(running.until, "server_started"))["url"])
            assert (await client.get("/readyz")).status == 200
            job = await app.enqueue("wait", {"began": str(began), "end": str(end)})
            await _until(began.exists)
            running.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(running.until, "worker_stopping")
            end.touch()
            stopped = await asyncio.to_thread(running.until, "server_stopped")
            assert stopped["level"] == "info"
            assert await asyncio.to_thread(running.process.wait, 30) == 0
            assert (await job.record()).state is State.SUCCEEDED


async def test_a_second_signal_hands_the_job_back(folder: Path, sqlite_url: str) -> None:
    began = folder / "began"
    async with App(sqlite_url) as app:
        app.task(name="wait")(_wait)
        with _serve(folder, sqlite_url) as running:
            await asyncio.to_thread(running.until, "server_started")
            job = await app.enqueue("wait", {"began": str(began), "end": str(folder / "never")})
            await _until(began.exists)
            running.process.send_signal(signal.SIGINT)
            await asyncio.to_thread(running.until, "worker_stopping")
            running.process.send_signal(signal.SIGINT)
            await asyncio.to_thread(running.until, "server_stopped")
            assert await asyncio.to_thread(running.process.wait, 30) == 0
            assert (await job.record()).state is State.READY


async def test_a_request_in_flight_is_answered_before_the_end(app: App) -> None:
    app.settings = app.settings.model_copy(update={"shutdown_grace": 60.0})
    with bound("127.0.0.1", 0) as sockets:
        server = Server(ServerContext(app), sockets)
        running = asyncio.create_task(server.run())
        host, port = sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(host, port)
        body = b'{"name": "Seoul"}'
        head = f"POST /api/offices HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body[:5])
        await _until(lambda: bool(server._uvicorn.server_state.tasks))
        server.stop_soon()
        await _until(lambda: not _reachable(host, port))
        assert not running.done()
        writer.write(body[5:])
        assert b" 201 " in await reader.readline()
        writer.close()
        async with asyncio.timeout(30):
            await running
    assert len((await Offices(app).list()).items) == 1


def _reachable(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


async def test_two_servers_on_one_postgresql_know_the_same_tokens(folder: Path, postgres_url: str) -> None:
    await App(postgres_url).migrate()
    with _serve(folder, postgres_url) as one, _serve(folder, postgres_url, "--no-worker") as other:
        clients = [Client((await asyncio.to_thread(each.until, "server_started"))["url"]) for each in (one, other)]
        assert [(await each.get("/metrics")).status for each in clients] == [200, 200]
        made = await asyncio.to_thread(
            hanbeon, "token", "create", "--user", "ada", "--scope", "read", "--database", postgres_url
        )
        assert made.returncode == 0, made.stderr
        token = made.stdout.strip()
        await _until(lambda: all(each.ask_now("GET", "/metrics").status == 401 for each in clients))
        assert [(await each.of(token).get("/metrics")).status for each in clients] == [200, 200]


def test_others_are_not_served_without_a_token(folder: Path, sqlite_url: str) -> None:
    for host in ("0.0.0.0", "::"):
        done = hanbeon("serve", "--database", sqlite_url, "--host", host, "--port", "0", cwd=folder)
        assert done.returncode == 2
        last = done.stderr.splitlines()[-1]
        assert last.startswith("error: host: ")
        assert "hanbeon token create" in last
    made = hanbeon("token", "create", "--user", "ada", "--scope", "admin", "--database", sqlite_url)
    token = made.stdout.strip()
    with Running("serve", "--database", sqlite_url, "--host", "0.0.0.0", "--port", "0", cwd=folder) as running:
        url = running.until("server_started")["url"].replace("0.0.0.0", "127.0.0.1")
        assert Client(url).ask_now("GET", "/metrics").status == 401
        assert Client(url, token).ask_now("GET", "/metrics").status == 200
        running.process.send_signal(signal.SIGTERM)
        logged = [str(line) for line in running.lines()]
    assert logged
    assert not any(token in line for line in logged)


def test_serve_rejects_taken_port_and_unknown_host(folder: Path, sqlite_url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = hanbeon("serve", "--database", sqlite_url, "--port", port, cwd=folder)
    assert done.returncode == 5
    assert "choose another with --port" in done.stderr
    assert hanbeon("serve", "--database", sqlite_url, "--host", "no.such.invalid", cwd=folder).returncode == 5


@pytest.mark.parametrize("terminal", [True, False])
def test_log_has_no_control_characters_of_requests(tmp_path: Path, sqlite_url: str, terminal: bool) -> None:
    """A terminal would obey them, and a line break would forge an entry."""
    ours, theirs = os.openpty() if terminal else os.pipe()
    paths = ["/x\x1b[2J\x07\x7f\x9b31m\u202e", "/x\x1b[2J\n\r\u2028"]
    with (
        open(ours, "rb", buffering=0) as log,
        Running("serve", "--database", sqlite_url, "--port", "0", cwd=tmp_path, stderr=theirs) as running,
    ):
        os.close(theirs)
        started = re.sub(rb"\x1b\[\d*m", b"", _read_until(log, b"server_started"))
        found = re.search(rb"http://[0-9.:]+", started)
        assert found is not None
        for path in paths:
            assert Client(found[0].decode()).ask_now("GET", quote(path)).status == 404
        running.process.send_signal(signal.SIGTERM)
        text = _read_until(log, b"server_stopped").decode()
    entries = [line for line in text.splitlines() if "/x" in line]
    for path, entry in zip(paths, entries, strict=True):
        shown = re.sub(r"\x1b\[\d*m", "", entry)  # Colours of our own.
        assert shown.isprintable(), shown
        assert "[2J" in shown
        if not terminal:
            assert json.loads(entry)["path"] == path


def _read_until(log: IO[bytes], mark: bytes) -> bytes:
    found = b""
    while mark not in found or not found.endswith(b"\n"):
        found += log.read(65_536)
    return found
