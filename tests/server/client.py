"""A plain HTTP client of a server under test, with one connection per request."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hanbeon import App
from hanbeon.server.context import ServerContext
from hanbeon.server.server import Server, bound
from hanbeon.surfaces.registry import SURFACES
from tests.server.openapi_check import Description


class Response(NamedTuple):
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of a problem document, after checking all its required members."""
        assert self.headers["content-type"] == "application/problem+json", self
        problem = self.json
        assert problem["status"] == self.status, self
        assert all(isinstance(problem[name], str) for name in ("type", "title", "detail", "code")), self
        return str(problem["code"])


class Client:
    """A client of one server that sends `token` with each request. Every response must match the OpenAPI document."""

    def __init__(self, url: str, token: str | None = None, *, all_surfaces: bool = False) -> None:
        self.url, self.token = url, token
        self._description = Description(lambda: self._sent("GET", "/openapi.json", None, {}).body, shared=all_surfaces)

    def of(self, token: str | None) -> Client:
        other = Client(self.url, token)
        other._description = self._description
        return other

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        return await asyncio.to_thread(self.ask_now, method, path, body, **headers)

    def ask_now(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        response = self._sent(method, path, body, sent)
        self._description.check(method, path, *response)
        return response

    def _sent(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        # Longer than requests that wait for each other at a locked SQLite file, each for up to 20 s.
        connection = http.client.HTTPConnection(str(urlsplit(self.url).hostname), urlsplit(self.url).port, timeout=120)
        with contextlib.closing(connection):
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            # A stream of events does not end.
            endless = found.get("content-type", "").startswith("text/event-stream")
            return Response(answer.status, found, b"" if endless else answer.read())

    async def get(self, path: str, **headers: str) -> Response:
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> Response:
        return await self.ask("POST", path, body, **headers)


@contextlib.asynccontextmanager
async def serving(app: App, *, work: bool = False, port: int = 0) -> AsyncIterator[Client]:
    """Serve an open App in this event loop."""
    with bound("127.0.0.1", port) as sockets:
        server = Server(ServerContext(app, app.worker() if work else None), sockets)
        running = asyncio.create_task(server.run())
        try:
            yield Client(server.url, all_surfaces=app.surfaces is SURFACES)
        finally:
            server.stop_soon()
            await running
