"""Slow requests are timed out; streams and large uploads are not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from hanbeon import App
from hanbeon.server.connections import BYTES_A_SECOND, RequestTimeout
from tests.server.client import Client, serving
from tests.server.test_events import Stream
from tests.server.websocket_client import PATIENCE, dial, hear, new_jobs, new_office

_GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
_POST = b"POST /api/offices HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"


@pytest.fixture
async def app(sqlite_url: str) -> AsyncIterator[App]:
    async with App(sqlite_url) as app:
        yield app


@pytest.fixture
async def hasty(app: App, server: Client) -> AsyncIterator[Client]:
    """A server with short timeouts, next to one of the same App with the usual ones, which does the rest."""
    app.settings = app.settings.model_copy(update={"request_timeout": 0.5})
    async with serving(app) as client:
        yield client


@contextlib.asynccontextmanager
async def _connected(client: Client) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    place = urlsplit(client.url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _rest(reader: asyncio.StreamReader) -> bytes:
    """Read everything until the server closes the connection."""
    async with asyncio.timeout(PATIENCE):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def _wait_as_long_as_it_waits(client: Client) -> None:
    """Wait until a request that begins now, and sends more than the others, is given up."""
    async with _connected(client) as (reader, writer):
        writer.write(_GET + b"x: " + b"y" * 2 * BYTES_A_SECOND)
        assert (await _rest(reader)).startswith(b"HTTP/1.1 408 ")


async def test_silent_connection_is_closed(hasty: Client) -> None:
    async with _connected(hasty) as (reader, _):
        response = await _rest(reader)
        assert response.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert b"Connection: close\r\n" in response


async def test_a_head_that_dribbles_in_is_given_up(hasty: Client) -> None:
    async with _connected(hasty) as (reader, writer):
        writer.write(_GET)

        async def dribble() -> None:
            while True:
                writer.write(b"x: y\r\n")
                await asyncio.sleep(0.02)

        dribbling = asyncio.create_task(dribble())
        response = await _rest(reader)
        dribbling.cancel()
        # The response to a client that keeps sending may be lost on the way.
        assert response == b"" or response.startswith(b"HTTP/1.1 408 ")


async def test_slow_second_request_is_given_up(hasty: Client) -> None:
    async with _connected(hasty) as (reader, writer):
        writer.write(_GET + b"\r\n")
        async with asyncio.timeout(PATIENCE):
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200 ")
        writer.write(_GET)
        assert (await _rest(reader)).startswith(b"HTTP/1.1 408 ")


async def test_half_sent_pipelined_request_is_given_up(hasty: Client) -> None:
    async with _connected(hasty) as (reader, writer):
        writer.write(_GET + b"\r\n" + _POST % 15 + b'{"name": "')
        assert (await _rest(reader)).startswith(b"HTTP/1.1 200 ")


async def test_a_body_that_does_not_come_is_given_up(hasty: Client, server: Client) -> None:
    async with _connected(hasty) as (reader, writer):
        writer.write(_POST % 15 + b'{"name": "')
        await _rest(reader)
    assert (await server.get("/api/offices")).json["items"] == []


async def test_a_body_that_nobody_waits_for_any_more_is_given_up(hasty: Client) -> None:
    """It was refused by its head, and the client keeps sending."""
    async with _connected(hasty) as (reader, writer):
        writer.write(_POST % 10**12 + b"x")
        response = await _rest(reader)
        assert response.startswith(b"HTTP/1.1 413 ")


async def test_much_that_comes_is_waited_for(hasty: Client) -> None:
    body = b'{"name": "' + b" " * 60_000 + b'x"}'
    async with _connected(hasty) as (reader, writer):
        writer.write(_POST % len(body) + body[:-1])
        await _wait_as_long_as_it_waits(hasty)
        writer.write(body[-1:])
        async with asyncio.timeout(PATIENCE):
            assert b"HTTP/1.1 422 " in await reader.readline()  # Refused for its name: it was read to the end.


async def test_nobody_is_blamed_while_the_server_does_not_read() -> None:
    looks, gave_up = 0, asyncio.Event()

    def paused() -> bool:
        nonlocal looks
        looks += 1
        assert not gave_up.is_set()
        return looks < 4

    RequestTimeout(0.01, paused, gave_up.set).wait()
    async with asyncio.timeout(PATIENCE):
        await gave_up.wait()
    assert looks == 4


async def test_those_who_listen_are_not_hurried(hasty: Client, server: Client) -> None:
    office = await new_office(server)
    async with (
        Stream(hasty, f"/api/offices/{office}/events") as stream,
        dial(hasty, f"/ws/offices/{office}/events") as listener,
    ):
        await _wait_as_long_as_it_waits(hasty)
        (job,) = await new_jobs(server, office)
        assert (await stream.next())["job_id"] == job
        assert (await hear(listener))["job_id"] == job
