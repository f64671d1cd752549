"""Silent clients cannot use up the descriptors that a server and its worker need."""

import asyncio
import contextlib
import errno
import json
import resource
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hanbeon import App
from hanbeon.clock import SystemClock
from hanbeon.domain.lifecycle import State
from hanbeon.server.connections import ConnectionLimit, limits_within
from hanbeon.settings import Settings
from hanbeon.store import statements
from hanbeon.store.dialect import Sqlite
from tests.cli.hanbeon import hanbeon
from tests.cli.workers import Running
from tests.server.client import Client, serving
from tests.server.test_events import Stream
from tests.server.test_serve import _TASKS, _until, _wait
from tests.server.websocket_client import dial, new_office

_HARD = 128
_CROWD = 150


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "waiting.py").write_text(_TASKS)
    return tmp_path


def _serve(folder: Path, url: str, soft: int, hard: int) -> Running:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    return Running(*("serve", "--app", "waiting:app", "--database", url, "--port", "0"), cwd=folder, preexec_fn=limit)


@contextlib.contextmanager
def _crowd(url: str, size: int) -> Iterator[list[socket.socket]]:
    """Connections that say nothing."""
    parts = urlsplit(url)
    with contextlib.ExitStack() as opened:
        found = []
        for _ in range(size):
            connection = opened.enter_context(socket.socket())
            connection.setblocking(False)  # Not all fit into the server's backlog at once.
            connection.connect_ex((str(parts.hostname), parts.port))
            found.append(connection)
        yield found


async def test_job_finishes_despite_silent_connections(folder: Path, database_url: str) -> None:
    app = App(database_url)
    await app.migrate()
    began, end = folder / "began", folder / "end"
    async with app:
        app.task(name="wait")(_wait)
        with _serve(folder, database_url, 64, _HARD) as running:
            url = (await asyncio.to_thread(running.until, "server_started"))["url"]
            job = await app.enqueue("wait", {"began": str(began), "end": str(end)})
            await _until(began.exists)
            with _crowd(url, _CROWD) as crowd:
                await _until(lambda: all(map(_is_connected, crowd)))
                end.touch()
                assert await job.result(timeout=60) == "waited"
                assert _descriptors(running.process.pid) < _HARD
            await _until(lambda: _answers(url))
            record = await job.record()
            assert (record.state, record.fence) == (State.SUCCEEDED, 1)


def _is_connected(connection: socket.socket) -> bool:
    """Return true if it has been accepted, or refused."""
    try:
        connection.getpeername()
    except OSError:
        return connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) not in (0, errno.EINPROGRESS)
    return True


def _descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _answers(url: str) -> bool:
    with contextlib.suppress(OSError):
        return Client(url).ask_now("GET", "/healthz").status == 200
    return False


async def test_streams_count_until_they_end(app: App) -> None:
    app.settings = app.settings.model_copy(update={"max_connections": 3, "max_connections_per_address": 3})
    async with serving(app) as client:
        office = await new_office(client)
        stream, socket_ = f"/api/offices/{office}/events", f"/ws/offices/{office}/events"
        async with Stream(client, stream), dial(client, socket_):
            with _crowd(client.url, 1):
                answer = await _idle_answer(client)
                head, _, body = answer.partition(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 503 ")
                assert b"\r\nretry-after: 1\r\n" in head.lower()
                assert json.loads(body)["code"] == "too_many_connections"
        await _until(lambda: _answers(client.url))
        async with dial(client, socket_), Stream(client, stream):
            assert (await client.get("/healthz")).status == 200
        assert b'hanbeon_refused_connections_total{limit="total"}' in (await client.get("/metrics")).body


async def _idle_answer(client: Client) -> bytes:
    """Return the answer to a connection that sends nothing."""
    parts = urlsplit(client.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    async with asyncio.timeout(30):
        answer = await reader.read()
    writer.close()
    return answer


def test_connection_limit_counts_by_address() -> None:
    refused: list[str] = []
    limit = ConnectionLimit(3, 2, SystemClock(), refused.append)
    one, two = limit.admit("192.0.2.1"), limit.admit("::ffff:192.0.2.1")
    assert one is not None
    assert two is not None
    assert limit.admit("192.0.2.1") is None
    three = limit.admit("2001:db8::1")
    assert three is not None
    assert limit.admit("192.0.2.9") is None
    assert refused == ["address", "total"]
    one()
    assert limit.admit("2001:db8::2") is not None
    three()
    two()
    assert limit.admit("2001:db8::3") is not None
    assert limit.admit("2001:db8::4") is None
    assert refused == ["address", "total", "address"]


@pytest.mark.parametrize(
    ("descriptors", "expected"), [(1_048_576, (4_000, 1_000, 2_048)), (1_024, (512, 128, 256)), (8, (4, 1, 2))]
)
def test_limits_leave_half_of_the_descriptors(descriptors: int, expected: tuple[int, int, int]) -> None:
    assert limits_within(descriptors, Settings()) == expected


async def test_open_store_reads_no_statement_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a descriptor left to read a file with, a finished job must still be completed."""
    statements._texts.cache_clear()
    statements.statement.cache_clear()
    async with App(f"sqlite:///{tmp_path}/jobs.db") as app:
        monkeypatch.setattr(Path, "read_text", None)
        assert await app.counts() is not None
        assert {statements.statement(name, Sqlite) for name in statements.names(Sqlite)}


def test_commands_get_the_descriptor_limit_of_the_start(tmp_path: Path, sqlite_url: str) -> None:
    """Programs that use `select()` expect few descriptors; the worker itself takes all it may have."""
    (tmp_path / "hanbeon.toml").write_text('[tasks.limit]\ncommand = ["sh", "-c", "ulimit -Sn"]\nresult = "text"\n')

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 3_000))

    with Running("serve", "--database", sqlite_url, "--port", "0", cwd=tmp_path, preexec_fn=limit) as running:
        running.until("server_started")
        assert resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE) == (3_000, 3_000)
        done = hanbeon("enqueue", "--wait", "limit", "--database", sqlite_url, cwd=tmp_path)
        assert json.loads(done.stdout).strip() == "200", done
