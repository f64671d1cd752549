"""The server as an ASGI application, for servers and platforms that import one: `hanbeon.asgi:application`.

It is configured by HANBEON_CONFIG (or a `hanbeon.toml` in the current folder) and the other HANBEON_… variables. It
only serves the API, unless the setting `asgi_worker` is true.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from weakref import WeakKeyDictionary

from hanbeon.app import App
from hanbeon.cleanup import cleanup
from hanbeon.config.file import find
from hanbeon.errors import HanbeonError
from hanbeon.extras import extra
from hanbeon.logs import get_logger

with extra("server", "hanbeon.asgi"):
    from starlette.types import ASGIApp, Receive, Scope, Send

    from hanbeon.server.application import application as server_application
    from hanbeon.server.context import ServerContext
    from hanbeon.server.problems import close_code, problem_of

_log = get_logger("hanbeon.asgi")


class Application:
    """Opens its App when the server starts it up or, where none does, with the first request.

    Some platforms never send the events of a lifespan, have another event loop for every request, or freeze the
    process between two. Without them, the App is closed when the last request of its loop has ended: there may be no
    other moment, and connections that nobody uses would fill the database's or the pooler's.
    """

    def __init__(self, app: App | None = None) -> None:
        self._app = app
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, _Opened] = WeakKeyDictionary()
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        try:
            opened = self._here()
        except HanbeonError as error:
            await _refuse(error, scope, receive, send)
            return
        opened.requests += 1
        try:
            try:
                inner = await opened.open()
            except HanbeonError as error:
                await _refuse(error, scope, receive, send)
                return
            await inner(scope, receive, send)
        finally:
            opened.requests -= 1
            if not opened.lives and not opened.requests:
                await opened.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        """Follow the server's lifespan: a problem at the start ends it, with its text."""
        await receive()
        try:
            opened = self._here()
            opened.lives = True
            await opened.open()
        except HanbeonError as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await opened.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _here(self) -> _Opened:
        loop = asyncio.get_running_loop()
        with self._lock:  # Loops may run in several threads.
            if self._app is None:
                path = find()
                self._app = App() if path is None else App.from_file(path)
            if loop not in self._opened:
                self._opened[loop] = _Opened(self._app.twin())
            return self._opened[loop]


class _Opened:
    """An App in one event loop."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._inner: ASGIApp | None = None
        self._lock = asyncio.Lock()
        self._closing = contextlib.AsyncExitStack()
        self.lives = False
        """The server tells when it ends; nothing else closes the App."""
        self.requests = 0

    async def open(self) -> ASGIApp:
        """Return the application, open. What failed is tried again with the next request."""
        async with self._lock:
            if self._inner is not None and self._app.store.restored.is_set():
                await self._close()  # Another incarnation of the database: nothing of the old one may be kept.
            if self._inner is None:
                try:
                    await self._closing.enter_async_context(self._app)
                    worker = self._app.worker() if self._app.settings.asgi_worker and self.lives else None
                    context = ServerContext(self._app, worker)
                    if worker is not None:
                        await self._closing.enter_async_context(worker)
                    self._closing.callback(context.stopping.set)
                except BaseException:
                    await self._close()
                    raise
                self._inner = server_application(context)
            return self._inner

    @cleanup
    async def close(self) -> None:
        async with self._lock:
            if not self.requests or self.lives:
                await self._close()

    async def _close(self) -> None:
        self._inner = None
        closing, self._closing = self._closing, contextlib.AsyncExitStack()
        await closing.aclose()


async def _refuse(error: HanbeonError, scope: Scope, receive: Receive, send: Send) -> None:
    _log.warning("not_open", error=str(error))
    if scope["type"] == "http":
        await problem_of(error)(scope, receive, send)
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": close_code(error), "reason": error.code})


application = Application()
