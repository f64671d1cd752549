"""Many concurrent listeners: each gets everything in order, and one that does not read blocks no other."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from hanbeon import App
from hanbeon.events import follower
from hanbeon.server.auth import Authenticator
from hanbeon.server.push import protocols, session
from hanbeon.server.request import Principal
from tests.cli.workers import Running
from tests.server.client import Client, serving
from tests.server.websocket_client import PATIENCE, dial, hear, new_jobs, new_office

CROWD = 200


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrink the buffers of slow listeners, so that a test need not send megabytes."""
    monkeypatch.setattr(protocols, "_SEND_BUFFER_BYTES", 4_096)
    monkeypatch.setattr(protocols, "_WRITE_BUFFER_BYTES", 4_096)
    monkeypatch.setattr(protocols, "PING_SECONDS", 600.0)
    monkeypatch.setattr(follower, "WAITING_MOST", 20)
    monkeypatch.setattr(session, "SEND_SECONDS", 600.0)


@contextlib.asynccontextmanager
async def _lazy(client: Client, path: str) -> AsyncIterator[ClientConnection]:
    """A listener that reads from its socket only on demand, with small buffers."""
    parts = urlsplit(client.url)
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    narrow.connect((str(parts.hostname), parts.port or 0))
    narrow.setblocking(False)
    url = f"ws://{parts.netloc}{path}"
    async with connect(
        url, sock=narrow, proxy=None, max_queue=1, open_timeout=None, ping_interval=None, close_timeout=1
    ) as listener:
        yield listener


async def _everything(client: Client, office: str, number: int) -> list[dict[str, Any]]:
    """Return this many events of the office, read by plain requests."""
    async with dial(client, f"/ws/offices/{office}/events") as listener:
        items = await _hear_many(listener, number)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                items.append(json.loads(await listener.recv()))
    return items


async def _rest(listener: ClientConnection) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = []
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(PATIENCE):
            while True:
                heard.append(json.loads(await listener.recv()))
    return heard


@pytest.mark.slow
@pytest.mark.usefixtures("narrow")
async def test_200_listeners_get_all_and_a_stalled_one_resumes(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(app) as client, contextlib.AsyncExitStack() as crowd:
        office, other = await new_office(client), await new_office(client, "Busan")
        path = f"/ws/offices/{office}/events"
        stalled = await crowd.enter_async_context(_lazy(client, path))
        listeners = await asyncio.gather(*(crowd.enter_async_context(dial(client, path)) for _ in range(CROWD - 1)))
        number = 0
        with capture_logs() as lines:
            hearing = asyncio.gather(*(_hear_many(each, 300) for each in listeners))
            for size in (1, 4, 25, 50, 70):
                number += len(await new_jobs(client, office, size))
                await new_jobs(client, other, 2)
            assert number == 150
            assert (await client.post(f"/api/offices/{office}/jobs/cancel-all")).status == 200
            heard = await hearing
            monkeypatch.setattr(session, "SEND_SECONDS", 0.5)
            await _dropped(lines)  # If it read before, it would no longer stall.
            first = await _rest(stalled)
        ids = [each["id"] for each in heard[0]]
        assert ids == sorted(set(ids))
        assert {each["office_id"] for each in heard[0]} == {office}
        assert all(each == heard[0] for each in heard)
        assert len(first) < 300
        last = [each["id"] for each in first if "id" in each][-1]
        async with dial(client, f"{path}?after={last}") as resumed:
            rest = await _hear_many(resumed, 300 - len([each for each in first if "id" in each]))
        assert [each for each in first if "id" in each] + rest == heard[0]
        assert heard[0] == await _everything(client, office, 300)


async def _dropped(lines: list[Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not any(line["event"] == "connection_dropped" for line in lines):
        assert time.monotonic() < end, "nobody was disconnected"
        await asyncio.sleep(0.05)


async def _hear_many(listener: ClientConnection, number: int) -> list[dict[str, Any]]:
    """Return the next events; a gap notice after a slow moment is allowed."""
    heard: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE * 3):
        while len(heard) < number:
            message = json.loads(await listener.recv())
            if "id" in message:
                heard.append(message)
    return heard


@pytest.mark.usefixtures("narrow")
async def test_slow_listener_gets_a_gap_notice_and_missed_events(server: Client) -> None:
    office = await new_office(server)
    path = f"/ws/offices/{office}/events"
    async with _lazy(server, path) as slow, dial(server, path) as quick:
        made = [job for _ in range(20) for job in await new_jobs(server, office, 20)]
        assert [each["job_id"] for each in await _hear_many(quick, len(made))] == made
        heard: list[dict[str, Any]] = []
        while len([each for each in heard if "id" in each]) < len(made):
            heard.append(await hear(slow))
    events = [each for each in heard if "id" in each]
    assert [each["job_id"] for each in events] == made
    gaps = [(place, each) for place, each in enumerate(heard) if each["type"] == "gap"]
    assert gaps
    for place, gap in gaps:
        before = [each["id"] for each in heard[:place] if "id" in each]
        assert gap == {"type": "gap", "after": before[-1] if before else 0, "reason": "slow"}
    text = (await server.get("/metrics")).body.decode()
    assert any(line.startswith("hanbeon_gaps_total ") and not line.endswith(" 0.0") for line in text.splitlines())


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("path", ["/ws/offices/{}/events", "/api/offices/{}/events"])
async def test_one_who_does_not_read_does_not_hold_up_a_stop(app: App, path: str) -> None:
    app.settings = app.settings.model_copy(update={"shutdown_grace": 100.0})
    with contextlib.ExitStack() as kept, capture_logs() as lines:
        async with asyncio.timeout(200), serving(app) as client:
            office = await new_office(client)
            kept.enter_context(_silent(client, path.format(office)))
            for _ in range(15):  # The kernel keeps megabytes for plain HTTP.
                await new_jobs(client, office, 1_000)
    assert [line["event"] for line in lines].count("connection_dropped") == 1


@pytest.mark.usefixtures("narrow")
async def test_a_stream_that_nobody_reads_is_dropped(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SEND_SECONDS", 1.0)
    monkeypatch.setattr(session, "LOOK_SECONDS", 0.1)
    async with serving(app) as client:
        office = await new_office(client)
        with _silent(client, f"/api/offices/{office}/events"), capture_logs() as lines:
            async with asyncio.timeout(200):
                while not any(line["event"] == "connection_dropped" for line in lines):
                    await new_jobs(client, office, 500)
        assert (await client.get("/healthz")).status == 200


@pytest.mark.usefixtures("narrow")
async def test_pings_of_one_who_does_not_read_do_not_pile_up(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ping requires a pong, and pongs that nobody reads would fill the memory."""
    ping = b"\x89\xfd\x00\x00\x00\x00" + b"x" * 125
    opened: list[protocols.WebSocket] = []
    made = protocols.WebSocket.connection_made

    def noted(self: protocols.WebSocket, transport: asyncio.BaseTransport) -> None:
        made(self, transport)
        opened.append(self)

    monkeypatch.setattr(protocols.WebSocket, "connection_made", noted)
    async with App(sqlite_url) as app, serving(app) as client:
        with _silent(client, f"/ws/offices/{await new_office(client)}/events") as talker:
            assert b" 101 " in await asyncio.to_thread(talker.recv, 15)
            talker.settimeout(60)
            for _ in range(20):  # More than the kernel would keep, so that most of it has been read.
                await asyncio.to_thread(talker.sendall, ping * 8_000)
            assert opened[0].transport.get_write_buffer_size() < 200_000


@pytest.mark.usefixtures("narrow")
async def test_ping_of_a_lagging_client_is_answered_when_it_reads(server: Client) -> None:
    office = await new_office(server)
    path = f"/ws/offices/{office}/events"
    async with _lazy(server, path) as slow, dial(server, path) as quick:
        for _ in range(10):
            await new_jobs(server, office, 40)
        await _hear_many(quick, 400)
        answered = await slow.ping()
        await _hear_many(slow, 400)
        async with asyncio.timeout(PATIENCE):
            await answered


async def test_one_who_speaks_before_it_is_let_in_is_dropped(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    admit, entered, spoken = Authenticator.admit, asyncio.Event(), asyncio.Event()

    async def late(*args: Any, **options: Any) -> Principal:
        entered.set()
        await spoken.wait()
        return await admit(*args, **options)

    async with App(sqlite_url) as app, serving(app) as client:
        path = f"/ws/offices/{await new_office(client)}/events"
        monkeypatch.setattr(Authenticator, "admit", late)
        for data in (b"\x81\x85\x00\x00\x00\x00hello", b"\xff" * 5_000, b"GET / HTTP/1.1\r\n\r\n"):
            with _silent(client, path) as early:
                early.settimeout(20)
                await entered.wait()
                entered.clear()
                early.sendall(data)
                with contextlib.suppress(ConnectionResetError):
                    assert await asyncio.to_thread(early.recv, 4_096) == b""
        spoken.set()
        assert (await client.get("/healthz")).status == 200
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


@contextlib.contextmanager
def _silent(client: Client, path: str) -> Iterator[socket.socket]:
    """A socket that sends its request, and reads nothing by itself."""
    lines = [f"GET {path} HTTP/1.1", "Host: localhost"]
    if path.startswith("/ws/"):
        lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
        lines += ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]
    parts = urlsplit(client.url)
    with socket.socket() as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        silent.connect((str(parts.hostname), parts.port or 0))
        silent.sendall("\r\n".join([*lines, "", ""]).encode())
        yield silent


_TASKS = """
from hanbeon import App

app = App()

@app.task
async def build() -> str:
    return "built"
"""


async def test_events_of_another_server_are_pushed_here(tmp_path: Path, postgres_url: str) -> None:
    (tmp_path / "building.py").write_text(_TASKS)
    await App(postgres_url).migrate()
    arguments = ("serve", "--app", "building:app", "--database", postgres_url, "--port", "0")
    with Running(*arguments, "--no-worker", cwd=tmp_path) as here, Running(*arguments, cwd=tmp_path) as there:
        one, other = [Client((await asyncio.to_thread(each.until, "server_started"))["url"]) for each in (here, there)]
        made = await other.post("/api/offices", {"name": "Seoul", "sessions": {"default": "build"}})
        office = made.json["id"]
        async with dial(one, f"/ws/offices/{office}/events") as listener:
            (first,) = await new_jobs(other, office)
            (second,) = await new_jobs(one, office)
            heard = await _hear_many(listener, 6)
    for job in (first, second):
        mine = [each["type"] for each in heard if each["job_id"] == job]
        assert mine == ["job_ready", "job_started", "job_completed"]
    assert [each["id"] for each in heard] == sorted({each["id"] for each in heard})
