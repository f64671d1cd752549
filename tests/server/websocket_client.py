"""WebSocket clients like those of a browser or a script."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.server.client import Client, Response

PATIENCE = 30.0


def dial(client: Client, path: str, **options: Any) -> connect:
    """`async with dial(server, "/ws/…") as listener:`; the client's token goes in the header."""
    headers = options.pop("headers", {})
    if client.token is not None:
        headers = {**headers, "Authorization": f"Bearer {client.token}"}
    place = urlsplit(client.url)
    name = options.pop("under", place.netloc)  # The Host header of the request.
    # Without pings of its own or a limit for the handshake: a busy machine is no reason to hang up.
    options |= {"host": place.hostname, "port": place.port, "ping_interval": None, "open_timeout": None}
    return connect(f"ws://{name}{path}", additional_headers=headers, proxy=None, max_queue=None, **options)


async def refused(client: Client, path: str, **options: Any) -> Response:
    """The answer to a handshake that is not accepted."""
    try:
        async with dial(client, path, **options):
            raise AssertionError("it was accepted")
    except InvalidStatus as error:
        response = error.response
        headers = {name.lower(): value for name, value in response.headers.raw_items()}
        return Response(response.status_code, headers, bytes(response.body or b""))


async def hear(listener: ClientConnection) -> dict[str, Any]:
    """The next message but the first one of each stream."""
    while (message := await hear_any(listener))["type"] == "opened":
        pass
    return message


async def hear_any(listener: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        message: dict[str, Any] = json.loads(await listener.recv(decode=True))
    return message


async def end_of(listener: ClientConnection) -> tuple[int, str]:
    """The code and the reason with which the server closes it."""
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(PATIENCE):
            while True:
                await listener.recv()
    assert listener.close_code is not None
    return listener.close_code, listener.close_reason or ""


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    """Poll until it is so."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if await reached():
                return
            await asyncio.sleep(0.02)


async def new_office(client: Client, name: str = "Seoul") -> str:
    made = await client.post("/api/offices", {"name": name})
    assert made.status == 201, made
    return str(made.json["id"])


async def new_jobs(client: Client, office: str, number: int = 1) -> list[str]:
    made = await client.post(f"/api/offices/{office}/jobs", {"jobs": [{} for _ in range(number)]})
    assert made.status == 201, made
    return [each["id"] for each in made.json["jobs"]]
