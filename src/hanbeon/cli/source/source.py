"""The one interface of the commands of operators, and the choice between a database and a server.

Both sources return the engine's own records, so that every command has one renderer.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from hanbeon.cli.source.server_option import chosen_server
from hanbeon.domain.explain import Explanation
from hanbeon.domain.job import AttemptRecord, JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.domain.log import LogPage
from hanbeon.domain.statistics import QueueStatistics
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.queries import Dependency
from hanbeon.store.operations.queues import QueueRecord


class JobDetail(NamedTuple):
    """A job with its ended attempts and the jobs that it waits for."""

    record: JobRecord
    attempts: Sequence[AttemptRecord]
    dependencies: Sequence[Dependency]


class Count(NamedTuple):
    """A number of jobs; not `exact`: there are at least as many."""

    jobs: int
    exact: bool = True


class Activity(NamedTuple):
    """The queues with their numbers, and the moment of these by the clock of the database."""

    now: int
    queues: Sequence[tuple[QueueRecord, QueueStatistics]]


class Source(Protocol):
    """An installation, as commands of operators use it. Filters are those of the options; None matches all."""

    @property
    def name(self) -> str:
        """The address, without secrets."""

    @property
    def zone(self) -> dt.tzinfo:
        """The time zone to show instants in."""

    @property
    def dashboard(self) -> str | None:
        """The address of its dashboard, if that is known."""

    async def jobs(self, *, newest: bool, after: int, limit: int, **filters: Any) -> tuple[list[JobRecord], bool]:
        """Return a page of jobs, and True if there is a next one."""

    async def record(self, job_id: str) -> JobRecord: ...

    async def detail(self, job_id: str) -> JobDetail: ...

    async def log(self, job_id: str, *, attempt: int | None, after: str | None) -> LogPage: ...

    async def explain(self, job_id: str) -> Explanation: ...

    def arrivals(self) -> contextlib.AbstractContextManager[asyncio.Event]:
        """An event that is set when something may have happened; only a hint, so its users poll as well."""

    async def cancel(self, job_id: str) -> State: ...

    async def retry(self, job_id: str) -> State: ...

    async def reprioritise(self, job_id: str, priority: int | None, urgent: bool | None) -> State: ...

    async def count_unfinished(self, filters: Mapping[str, Any]) -> Count: ...

    async def cancel_where(self, filters: Mapping[str, Any]) -> list[str]: ...

    async def queues(self) -> list[QueueRecord]: ...

    async def activity(self, window: float, name: str | None = None) -> Activity: ...

    async def change_queue(
        self, name: str, changes: Mapping[str, Any], *, paused: bool | None, create: bool
    ) -> QueueRecord:
        """Change limits, or pause and resume. The caller has checked that the queue exists, unless `create`."""

    async def instances(self) -> list[InstanceRecord]: ...

    async def running(self, limit: int) -> list[JobRecord]:
        """Return the running jobs, the longest-running first."""


@contextlib.asynccontextmanager
async def open_source(database: str | None) -> AsyncIterator[Source]:
    """Open the server that `--server` or HANBEON_SERVER names, or else the database."""
    server = chosen_server(database)
    if server is not None:
        from hanbeon.cli.source.server import open_server

        async with open_server(server) as remote:
            yield remote
        return
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.source.database import DatabaseSource

    async with open_app(database) as app:
        yield DatabaseSource(app)
