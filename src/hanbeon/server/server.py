"""Runs a server in the event loop of its App, with or without a worker, until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from collections.abc import Callable, Iterator

import uvicorn

from hanbeon.app import App
from hanbeon.cleanup import to_the_end
from hanbeon.descriptors import descriptor_limit
from hanbeon.engine.garbage_collector import tune_collector
from hanbeon.engine.signals import handling_signals
from hanbeon.errors import AddressUnavailable, AuthMissing, DatabaseRestored
from hanbeon.logs import get_logger
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.server.application import application
from hanbeon.server.auth import is_loopback
from hanbeon.server.connections import ConnectionLimit, limits_within
from hanbeon.server.context import ServerContext
from hanbeon.server.push import protocols
from hanbeon.settings import CRON_SECRET_RECOMMENDED, Settings


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Sockets on every address of the host; on one address only if the port is 0."""
    with contextlib.ExitStack() as opened:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            raise AddressUnavailable(Rule("host_unresolved", host=quoted(host), error=error)) from error
        sockets = []
        for family, kind, protocol, _, address in found[:1] if port == 0 else found:
            opening = opened.enter_context(socket.socket(family, kind, protocol))
            opening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family is socket.AF_INET6:
                opening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                opening.bind(address)
            except OSError as error:
                raise AddressUnavailable(Rule("port_taken", port=port, host=host, error=error.strerror)) from error
            sockets.append(opening)
        yield sockets


def only_local(sockets: list[socket.socket]) -> bool:
    """Return true if only this machine can reach the sockets."""
    return all(is_loopback(each.getsockname()[0]) for each in sockets)


def url_of(sockets: list[socket.socket]) -> str:
    host, port = sockets[0].getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


_log = get_logger("hanbeon.server")


async def serve(app: App, *, work: bool = True, started: Callable[[str], object] = str) -> None:
    """Serve the App, with its worker if there is one, until SIGTERM or SIGINT; a second signal stops both at once.

    `started` is called with the URL as soon as requests are answered.
    """
    with bound(app.settings.host, app.settings.port) as sockets:
        async with app:
            context = ServerContext(app, app.worker() if work else None)
            if not only_local(sockets) and not await context.authenticator.closed():
                raise AuthMissing(
                    Rule("server_without_tokens", host=app.settings.host),
                    field="host",
                )
            server = Server(context, sockets)
            tune_collector()
            with handling_signals(server.stop_soon, server.reload_soon):
                await server.run(started)


class Server:
    """One server on open sockets. The first `stop_soon()` lets requests and jobs finish; the second does not wait."""

    def __init__(self, context: ServerContext, sockets: list[socket.socket]) -> None:
        self.context = context
        self.url = url_of(sockets)
        self._sockets = sockets
        total, per_address, backlog = limits_within(descriptor_limit(), context.app.settings)
        for each in sockets:
            each.listen(backlog)  # Connections queue until uvicorn is ready, instead of being rejected.
        limit = ConnectionLimit(total, per_address, context.app.clock, context.counts.refused)
        self._uvicorn = _Uvicorn(_config(context, context.app.settings, limit, backlog))

    async def run(self, started: Callable[[str], object] = str) -> None:
        """Return when everything has stopped; raises DatabaseRestored if that is why."""
        loop = asyncio.get_running_loop()
        _warn_without_audience(self.context.app.settings)
        _warn_of_short_cron_secret(self.context.app.settings)
        serving = loop.create_task(self._uvicorn.serve(self._sockets))
        stopping = loop.create_task(self.context.stopping.wait())
        restored = loop.create_task(self.context.app.store.restored.wait())
        try:
            async with self.context.worker or contextlib.nullcontext():
                _log.info(
                    "server_started",
                    url=self.url,
                    worker=self.context.worker is not None,
                    timezone=self.context.app.settings.timezone,
                )
                started(self.url)
                await asyncio.wait([serving, stopping, restored], return_when=asyncio.FIRST_COMPLETED)
                self._end_requests()
        finally:
            self._end_requests()
            stopping.cancel()
            restored.cancel()
            await to_the_end(_wait_for(serving), self._force)
            _log.info("server_stopped", url=self.url)
        if self.context.app.store.restored.is_set():
            raise DatabaseRestored

    def _force(self) -> None:
        self._uvicorn.force_exit = True

    def stop_soon(self) -> None:
        if self.context.stopping.is_set():
            self._force()
        self.context.stopping.set()
        if self.context.worker is not None:
            self.context.worker.stop_soon()

    def reload_soon(self) -> None:
        """Reload the configuration of the worker; without a worker there is nothing to reload."""
        if self.context.worker is not None:
            self.context.worker.reload_soon()

    def _end_requests(self) -> None:
        """Stop while the worker stops, not after it: clients need not wait for running jobs."""
        self.context.stopping.set()
        self._uvicorn.should_exit = True


async def _wait_for(serving: asyncio.Task[None]) -> None:
    await serving


class _Uvicorn(uvicorn.Server):
    """A uvicorn server that leaves the signals alone: the worker of this process needs them too."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _warn_of_short_cron_secret(settings: Settings) -> None:
    if settings.cron_secret is not None and len(settings.cron_secret) < CRON_SECRET_RECOMMENDED:
        _log.warning(
            "cron_secret_short",
            remedy=f"set cron_secret to at least {CRON_SECRET_RECOMMENDED} random characters: it can be guessed",
        )


def _warn_without_audience(settings: Settings) -> None:
    if settings.jwt_issuer is not None and settings.jwt_audience is None:
        _log.warning(
            "jwt_audience_missing",
            issuer=settings.jwt_issuer,
            remedy="set jwt_audience: JWTs that this issuer made for other applications are accepted, too",
        )


def _config(context: ServerContext, settings: Settings, limit: ConnectionLimit, backlog: int) -> uvicorn.Config:
    return uvicorn.Config(
        application(context),
        loop="none",
        http=protocols.limited_http(settings.request_timeout, limit),
        backlog=backlog,
        ws=protocols.WebSocket,
        ws_max_size=protocols.MESSAGE_BYTES,
        ws_ping_interval=protocols.PING_SECONDS,
        ws_ping_timeout=protocols.PING_SECONDS,
        ws_per_message_deflate=False,  # Messages are small, and each connection would keep its own tables.
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="warning",
        access_log=False,
        # Forwarded headers are not trusted: they would decide which client counts as local.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, math.ceil(settings.shutdown_grace)),
    )
