"""Calls of an ASGI application as a platform or a server makes them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.types import ASGIApp


async def call(application: ASGIApp, method: str, path: str, token: str, body: Any = None) -> tuple[int, Any]:
    """Return the status and the decoded body of the response."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"" if body is None else json.dumps(body).encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "https",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [
            (b"host", b"example.org"),
            (b"authorization", f"Bearer {token}".encode()),
            (b"content-type", b"application/json"),
        ],
        "client": ("192.0.2.7", 1),
        "server": ("example.org", 443),
    }
    await application(scope, receive, send)
    return sent[0]["status"], json.loads(b"".join(each.get("body", b"") for each in sent[1:]) or b"null")


@contextlib.asynccontextmanager
async def lifespan(application: ASGIApp) -> AsyncIterator[Any]:
    """Send the events of a server's lifespan; the value is the answer to the first of them."""
    events: asyncio.Queue[Any] = asyncio.Queue()
    sent: asyncio.Queue[Any] = asyncio.Queue()
    serving = asyncio.create_task(_serve(application, events, sent))
    events.put_nowait({"type": "lifespan.startup"})
    try:
        yield await sent.get()
    finally:
        events.put_nowait({"type": "lifespan.shutdown"})
        await serving


async def _serve(application: ASGIApp, events: asyncio.Queue[Any], sent: asyncio.Queue[Any]) -> None:
    await application({"type": "lifespan"}, events.get, sent.put)
