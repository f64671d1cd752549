"""State that the routes of one server share."""

from __future__ import annotations

import asyncio

from hanbeon.app import App
from hanbeon.engine.worker import Worker
from hanbeon.events.broadcast import Broadcast
from hanbeon.server.auth import Authenticator
from hanbeon.server.database_watch import DatabaseWatch
from hanbeon.server.idempotency import Idempotency
from hanbeon.server.jwt import issuer_of
from hanbeon.server.metrics import RequestCounts
from hanbeon.server.shared_read import SharedReads


class ServerContext:
    """An open App, the worker of this process if there is one, and the authenticator."""

    def __init__(self, app: App, worker: Worker | None = None) -> None:
        self.app, self.worker = app, worker
        self.authenticator = Authenticator(app.store, app.clock, issuer_of(app.settings), app.settings.cron_secret)
        self.broadcast = Broadcast(app.store, app.hub)
        """Live events for all subscribers of this server."""
        self.database_watch = DatabaseWatch(app.store)
        self.idempotency = Idempotency(app.store)
        self.shared_reads = SharedReads()
        self.counts = RequestCounts()
        self.stopping = asyncio.Event()
        """Set when the server is to stop: open streams end then."""
