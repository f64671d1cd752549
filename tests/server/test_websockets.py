"""The events of an office by WebSocket: the same as the stream, resumed without loss, and refused properly."""

import asyncio
import contextlib
import logging
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed

from hanbeon import App
from hanbeon.server import auth
from hanbeon.server.auth_throttle import MOST
from hanbeon.server.context import ServerContext
from hanbeon.server.push import protocols, session
from hanbeon.server.server import Server, bound
from hanbeon.service.tokens import create_token, revoke_token
from tests.server.client import Client, serving
from tests.server.websocket_client import dial, end_of, hear, hear_any, new_jobs, new_office, refused, until


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the intervals of periodic checks."""
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    monkeypatch.setattr(session, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(session, "ADMIT_AGAIN_SECONDS", 0.05)


async def test_events_come_as_they_happen_and_can_be_resumed(server: Client) -> None:
    office, other = await new_office(server), await new_office(server, "Busan")
    async with dial(server, f"/ws/offices/{office}/events") as listener:
        await new_jobs(server, other)
        (job,) = await new_jobs(server, office)
        ready = await hear(listener)
        assert set(ready) == {"id", "type", "job_id", "office_id", "details", "timestamp"}
        assert (ready["type"], ready["job_id"], ready["office_id"]) == ("job_ready", job, office)
        await server.post(f"/api/offices/{office}/jobs/{job}/cancel")
        cancelled = await hear(listener)
        assert (cancelled["type"], cancelled["job_id"]) == ("job_cancelled", job)
        assert cancelled["id"] > ready["id"]
    async with dial(server, f"/ws/offices/{office}/events?after={ready['id']}") as again:
        assert await hear(again) == cancelled
    async with dial(server, f"/ws/offices/{office}/events?after=0") as all_of_it:
        assert [await hear(all_of_it), await hear(all_of_it)] == [ready, cancelled]


async def test_a_stream_first_names_the_incarnation(app: App, server: Client) -> None:
    office = await new_office(server)
    (job,) = await new_jobs(server, office)
    path = f"/ws/offices/{office}/events"
    async with dial(server, path) as listener:
        opened = await hear_any(listener)
        assert opened == {"type": "opened", "incarnation": app.incarnation, "after": 0}
        first = await hear_any(listener)
        assert first["job_id"] == job
    async with dial(server, f"{path}?after={app.incarnation}:{first['id']}") as again:
        assert await hear_any(again) == opened | {"after": first["id"]}
        (later,) = await new_jobs(server, office)
        assert (await hear_any(again))["job_id"] == later
    answer = await refused(server, f"{path}?after={'0' * 16}:{first['id']}")
    assert (answer.status, answer.code, answer.json["field"]) == (422, "other_incarnation", "after")
    assert "restored from a backup" in answer.json["detail"]


async def test_a_cursor_ahead_of_all_events_is_told_of_the_gap(server: Client) -> None:
    office = await new_office(server)
    await new_jobs(server, office)
    async with dial(server, f"/ws/offices/{office}/events") as listener:
        seen = (await hear(listener))["id"]
    async with dial(server, f"/ws/offices/{office}/events?after={seen + 1_000}") as ahead:
        assert await hear(ahead) == {"type": "gap", "after": seen, "reason": "ahead"}
        (job,) = await new_jobs(server, office)
        assert (await hear(ahead))["job_id"] == job


async def test_a_cursor_before_the_kept_events_is_told_of_the_gap(app: App, server: Client) -> None:
    office = await new_office(server)
    await new_jobs(server, office, 2)
    await app.store.number_events()
    await app.store.fold()
    await app.store.prune(0, 100)
    (job,) = await new_jobs(server, office)
    path = f"/ws/offices/{office}/events"
    async with dial(server, path) as listener:
        kept = await hear(listener)
        assert kept["job_id"] == job
    async with dial(server, f"{path}?after=1") as behind:
        gap = await hear(behind)
        assert (gap["type"], gap["reason"]) == ("gap", "pruned")
        assert 1 < gap["after"] < kept["id"]
        assert await hear(behind) == kept


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("?after=-1", 422, "invalid"),
        ("?after=abc", 422, "invalid"),
        (f"?after={2**63}", 422, "invalid"),
        ("?after=1&after=2", 422, "invalid"),
        ("?after=%00", 422, "invalid"),
        ("?afer=1", 422, "invalid"),
        ("?token=secret", 422, "invalid"),
        ("/", 404, "no_such_path"),
    ],
)
async def test_websocket_rejects_invalid_handshakes_with_a_problem(
    server: Client, path: str, status: int, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    office = await new_office(server)
    answer = await refused(server, f"/ws/offices/{office}/events{path}")
    assert (answer.status, answer.code) == (status, code)
    assert len(answer.headers["x-request-id"]) == 36
    assert answer.headers["cache-control"] == "no-store"
    await server.get("/healthz")
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []


@pytest.mark.parametrize("office", ["1", "01890000-0000-7000-8000-000000000001", "%00", "x" * 5_000, "%ff", ".."])
async def test_an_office_that_is_none_is_not_found(server: Client, office: str) -> None:
    answer = await refused(server, f"/ws/offices/{office}/events")
    assert (answer.status, answer.code) in ((404, "office_not_found"), (404, "no_such_path"))


async def test_websocket_path_serves_websockets_only(server: Client) -> None:
    for path in ("/", "/ws", "/api/offices", "/healthz", "/ws/offices"):
        assert (await refused(server, path)).code == "no_such_path"
    answer = await server.get(f"/ws/offices/{await new_office(server)}/events")
    assert (answer.status, answer.code, answer.headers["upgrade"]) == (426, "not_a_websocket", "websocket")


async def test_pages_of_other_sites_may_not_listen(app: App, server: Client) -> None:
    """A browser lets any page open a WebSocket to this machine; only the Origin header says whose page it is."""
    path = f"/ws/offices/{await new_office(server)}/events"
    port = urlsplit(server.url).port
    for origin in ("http://evil.example", "null", f"http://127.0.0.1.evil.example:{port}", "http://127.0.0.1:1"):
        answer = await refused(server, path, origin=origin)
        assert (answer.status, answer.code) == (403, "foreign_origin"), origin
    async with dial(server, path, origin=server.url):
        pass
    answer = await refused(server, path, under="evil.example")
    assert (answer.status, answer.code) == (403, "foreign_host")
    token = (await create_token(app.store, "ada", "read")).text
    assert (await refused(server.of(token), path, origin="http://evil.example")).code == "foreign_origin"


async def test_a_token_comes_in_the_header_or_as_a_subprotocol(app: App, server: Client) -> None:
    path = f"/ws/offices/{await new_office(server)}/events"
    token: Any = (await create_token(app.store, "ada", "read")).text
    answer = await refused(server, path)
    assert (answer.status, answer.code) == (401, "not_authenticated")
    assert answer.headers["www-authenticate"] == 'Bearer realm="hanbeon"'
    async with dial(server.of(token), path) as listener:
        assert listener.subprotocol is None
    async with dial(server, path, subprotocols=["bearer", token]) as listener:
        assert listener.subprotocol == "bearer"
    async with dial(server.of(token), path, subprotocols=["bearer"]) as listener:
        assert listener.subprotocol == "bearer"
    for offered in (["bearer"], [token], [token, "bearer"], ["bearer", "x"], ["bearer", token, "x"], ["basic", token]):
        assert (await refused(server, path, subprotocols=offered)).code == "not_authenticated", offered
    assert (await refused(server.of("wrong"), path, subprotocols=["bearer", token])).code == "not_authenticated"


async def test_scopes_and_failures_count_as_for_any_request(app: App, server: Client) -> None:
    path = f"/ws/offices/{await new_office(server)}/events"
    for scope in ("admin", "user", "read"):
        async with dial(server.of((await create_token(app.store, "ada", scope)).text), path):
            pass
    cron: Any = (await create_token(app.store, "ada", "cron")).text
    answer = await refused(server, path, subprotocols=["bearer", cron])
    assert (answer.status, answer.code) == (403, "not_allowed")
    seen = [(await refused(server, path, subprotocols=["bearer", "wrong"])).status for _ in range(MOST - 1)]
    seen += [(await server.of("wrong").get("/metrics")).status, (await refused(server.of("wrong"), path)).status]
    assert seen == [401] * MOST + [429]


async def test_a_revoked_token_ends_what_it_opened(app: App, server: Client) -> None:
    office = await new_office(server)
    made, other = [await create_token(app.store, "ada", "read") for _ in range(2)]
    path = f"/ws/offices/{office}/events"
    async with dial(server.of(made.text), path) as listener, dial(server.of(other.text), path) as staying:
        await revoke_token(app.store, made.record.id)
        assert await end_of(listener) == (4401, "not_authenticated")
        await app.cancel_where()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(staying.recv(), 0.5)
        assert staying.close_code is None


async def test_the_first_token_ends_what_was_opened_without_one(app: App, server: Client) -> None:
    async with dial(server, f"/ws/offices/{await new_office(server)}/events") as listener:
        await create_token(app.store, "ada", "read")
        assert await end_of(listener) == (4401, "not_authenticated")


async def test_deleted_office_sends_its_last_events_and_ends(server: Client) -> None:
    office = await new_office(server)
    path = f"/ws/offices/{office}/events"
    async with dial(server, path) as listener, dial(server, f"/ws/offices/{await new_office(server)}/events") as other:
        (job,) = await new_jobs(server, office)
        assert (await server.ask("DELETE", f"/api/offices/{office}?cancel=true")).status == 204
        assert [(each["type"], each["job_id"]) for each in (await hear(listener), await hear(listener))] == [
            ("job_ready", job),
            ("job_cancelled", job),
        ]
        assert await end_of(listener) == (4404, "office_not_found")
        assert other.close_code is None
    assert (await refused(server, path)).code == "office_not_found"


async def test_client_messages_are_dropped_and_oversized_ones_close(server: Client) -> None:
    office = await new_office(server)
    async with dial(server, f"/ws/offices/{office}/events") as listener:
        for message in ("hello", b"\x00\xff", '{"type": "subscribe"}', ""):
            await listener.send(message)
        await listener.send(["in ", "pieces"])
        await (await listener.ping())
        await new_jobs(server, office)
        assert (await hear(listener))["type"] == "job_ready"
        for _ in range(500):
            await listener.send("again")
        await new_jobs(server, office)
        assert (await hear(listener))["type"] == "job_ready"
    for pieces in (["x" * 5_000], ["x" * 3_000, "x" * 3_000]):
        async with dial(server, f"/ws/offices/{office}/events") as listener:
            with contextlib.suppress(ConnectionClosed):
                await listener.send(pieces)
            assert (await end_of(listener))[0] == 1009
    assert (await server.get("/healthz")).status == 200


@pytest.mark.parametrize(
    "lines",
    [
        "Sec-WebSocket-Version: 13\r\n",
        "Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n",
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nContent-Length: 5\r\n",
        "".join(f"X-{number}: y\r\n" for number in range(200)) + "Sec-WebSocket-Version: 13\r\n",
        f"Sec-WebSocket-Version: 13\r\nX: {'y' * 20_000}\r\n",
    ],
)
async def test_broken_handshakes_never_stay_open(server: Client, lines: str) -> None:
    parts = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    path = f"/ws/offices/{await new_office(server)}/events"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n".encode())
    writer.write(f"{lines}\r\n".encode())
    async with asyncio.timeout(20):
        answer = await reader.read()
    assert answer == b"" or answer.split()[1] in (b"400", b"426"), answer
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def test_client_that_breaks_the_rules_is_no_defect(server: Client, caplog: pytest.LogCaptureFixture) -> None:
    """Unmasked, with reserved bits, far too long, a long ping: the connection is closed, before a message or after."""
    parts = urlsplit(server.url)
    path = f"/ws/offices/{await new_office(server)}/events"
    key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n"
    mask = b"\0\0\0\0"
    long = b"\x81\xff\0\0\1" + b"\0" * 5 + mask
    for frame in (b"\x81\x01x", b"\xf1\x81" + mask + b"x", long, b"\x89\xfe\1\0" + mask + b"x" * 256):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(head.encode())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(frame)
        async with asyncio.timeout(60):
            await reader.read()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_connection_is_logged_once_without_secrets(app: App, server: Client) -> None:
    office = await new_office(server)
    token: Any = (await create_token(app.store, "ada", "read")).text
    with capture_logs() as lines:
        path = f"/ws/offices/{office}/events"

        async def logged_count_is(number: int) -> None:
            async def logged() -> bool:
                return len([line for line in lines if line["event"] == "request"]) == number

            await until(logged)

        async with dial(server, f"{path}?after=7", subprotocols=["bearer", token]) as listener:
            request_id = listener.response.headers["x-request-id"] if listener.response else ""
        await logged_count_is(1)
        async with dial(server.of(token), path, headers={"X-Request-Id": "mine"}):
            pass
        await logged_count_is(2)
        assert (await refused(server, path, headers={"X-Request-Id": "not-let-in"})).headers["x-request-id"]
        await logged_count_is(3)
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["status"], line["user"]) for line in requests] == [(101, "ada"), (101, "ada"), (401, None)]
    assert requests[0]["closed"] == 1000
    assert {line["path"] for line in requests} == {path}
    assert len(request_id) == 36
    assert not any(token in str(line) or "after" in str(line) for line in lines)


async def test_open_connections_are_counted(server: Client) -> None:
    path = f"/ws/offices/{await new_office(server)}/events"

    async with dial(server, path), dial(server, path):
        assert await open_is(server, 2)

    await until(lambda: open_is(server, 0))
    count = 'hanbeon_http_requests_total{method="GET",route="/ws/offices/{id}/events",status="101"} 2.0'
    assert count in (await server.get("/metrics")).body.decode()


async def test_a_stop_says_goodbye(app: App) -> None:
    app.settings = app.settings.model_copy(update={"shutdown_grace": 100.0})
    async with asyncio.timeout(20):
        async with serving(app) as client:
            listener = await dial(client, f"/ws/offices/{await new_office(client)}/events")
        assert await end_of(listener) == (1001, "stopping")


async def test_session_sends_the_close_frame_even_when_late(app: App) -> None:
    """Uvicorn closes its connections after a tenth of a second, with another code and reason than ours."""
    with bound("127.0.0.1", 0) as sockets:
        server = Server(ServerContext(app), sockets)
        running = asyncio.create_task(server.run())
        client = Client(server.url)
        async with dial(client, f"/ws/offices/{await new_office(client)}/events") as listener:
            for each in list(server._uvicorn.server_state.connections):
                each.shutdown()
            await (await listener.ping())
            server.stop_soon()
            assert await end_of(listener) == (1001, "stopping")
        await running


async def test_a_client_that_is_not_heard_of_any_more_is_dropped(
    app: App, server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It neither reads nor answers pings, and nothing is sent to it: only the missing pongs show it."""
    monkeypatch.setattr(protocols, "PING_SECONDS", 0.2)
    monkeypatch.setattr(protocols, "_CLOSE_SECONDS", 0.2)
    async with serving(app) as client:
        path = f"/ws/offices/{await new_office(client)}/events"
        parts = urlsplit(client.url)
        with socket.create_connection((str(parts.hostname), parts.port or 0)) as silent:
            silent.sendall(
                f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
            )
            assert b" 101 " in await asyncio.to_thread(silent.recv, 15)
            await until(lambda: open_is(client, 0))


async def open_is(client: Client, number: int) -> bool:
    gauge = f'hanbeon_open_connections{{route="/ws/offices/{{id}}/events"}} {number}.0'
    return gauge in (await client.get("/metrics")).body.decode()
