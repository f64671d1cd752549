"""The events of an office as a stream."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from hanbeon import App
from tests.server.client import Client, serving


class Stream:
    """Follows; what is read is events alone."""

    def __init__(self, client: Client, path: str, **headers: str) -> None:
        self._parts, self._path, self._headers = urlsplit(client.url), path, headers

    async def __aenter__(self) -> "Stream":
        self._reader, self._writer = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        lines = "".join(f"{name}: {value}\r\n" for name, value in self._headers.items())
        self._writer.write(f"GET {self._path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())
        self.head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(20):
            while not (line := await self._reader.readline()).startswith(b"data: ") or b'"opened"' in line:
                assert line, "it ended"
        event: dict[str, Any] = json.loads(line[6:])
        return event

    async def rest(self) -> bytes:
        async with asyncio.timeout(20):
            return await self._reader.read()


async def test_events_come_as_they_happen_and_can_be_resumed(app: App, server: Client) -> None:
    office = f"/api/offices/{(await server.post('/api/offices', {'name': 'Seoul'})).json['id']}"
    other = f"/api/offices/{(await server.post('/api/offices', {'name': 'Busan'})).json['id']}"
    async with Stream(server, f"{office}/events") as stream:
        assert "content-type: text/event-stream" in stream.head
        assert "cache-control: no-store" in stream.head
        await server.post(f"{other}/jobs", {"jobs": [{}]})
        job = (await server.post(f"{office}/jobs", {"jobs": [{}]})).json["jobs"][0]
        ready = await stream.next()
        assert (ready["type"], ready["job_id"]) == ("job_ready", job["id"])
        await server.post(f"{office}/jobs/{job['id']}/cancel")
        cancelled = await stream.next()
        assert cancelled["type"] == "job_cancelled"
        assert cancelled["id"] > ready["id"]
    for path, headers in (
        (f"{office}/events?after={ready['id']}", {}),
        (f"{office}/events", {"Last-Event-ID": str(ready["id"])}),
    ):
        async with Stream(server, path, **headers) as again:
            assert await again.next() == cancelled


async def test_stream_rejects_invalid_resume_ids(server: Client) -> None:
    office = f"/api/offices/{(await server.post('/api/offices', {'name': 'Seoul'})).json['id']}"
    for path in ("?after=-1", "?after=x", f"?after={2**63}", "?afer=1"):
        answer = await server.get(f"{office}/events{path}")
        assert (answer.status, answer.code) == (422, "invalid"), path
    answer = await server.get(f"{office}/events", Last_Event_ID="x")
    assert (answer.status, answer.json["field"]) == (422, "Last-Event-ID")


async def test_a_stop_ends_streams_at_once(app: App) -> None:
    app.settings = app.settings.model_copy(update={"shutdown_grace": 100.0})
    async with asyncio.timeout(20):
        async with serving(app) as client:
            office = f"/api/offices/{(await client.post('/api/offices', {'name': 'Seoul'})).json['id']}"
            stream = await Stream(client, f"{office}/events").__aenter__()
        assert b"job_id" not in await stream.rest()
    await stream.__aexit__()


async def test_the_head_of_a_stream_is_an_answer_that_ends(app: App, server: Client) -> None:
    office = (await server.post("/api/offices", {"name": "Seoul"})).json["id"]
    parts = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    for path, status in ((f"/api/offices/{office}/events", b"200 OK"), ("/api/offices/none/events", b"404")):
        # On one connection, where the second is answered only if the first has ended.
        writer.write(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        async with asyncio.timeout(20):
            head = await reader.readuntil(b"\r\n\r\n")
        assert status in head.splitlines()[0]
        assert (b"content-type: text/event-stream" in head.lower()) == (status == b"200 OK")
    writer.close()
    await writer.wait_closed()
    assert "hanbeon_open_connections{" not in (await server.get("/metrics")).body.decode()
