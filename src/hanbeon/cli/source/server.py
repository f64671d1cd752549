"""A server as a source of commands. Errors of the client stop here: each names the remedy."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import functools
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar

from hanbeon.cli.config_option import settings_here
from hanbeon.cli.source import records
from hanbeon.cli.source.problems import command_error
from hanbeon.cli.source.server_option import ServerAddress
from hanbeon.cli.source.source import Activity, Count, JobDetail
from hanbeon.client import AsyncClient, ClientError
from hanbeon.domain.bounds import PAGE_ROWS
from hanbeon.domain.explain import Explanation
from hanbeon.domain.job import JobRecord, check_whole
from hanbeon.domain.lifecycle import State
from hanbeon.domain.log import LogPage
from hanbeon.errors import InvalidInput
from hanbeon.settings import masked
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.queues import QueueRecord
from hanbeon.surfaces.engine.schemas import BulkAction

P = ParamSpec("P")
T = TypeVar("T")
_RETRY_SECONDS = 5.0
"""Somebody waits at the prompt: an answer that does not come is said soon."""


@contextlib.asynccontextmanager
async def open_server(address: ServerAddress) -> AsyncIterator[ServerSource]:
    """Open a client; no request is sent yet. Instants are shown in the time zone of the local settings."""
    settings = settings_here()
    try:
        client = AsyncClient(address.url, token=address.token, retry_for=_RETRY_SECONDS)
    except InvalidInput as error:
        field = {"url": "server"}.get(error.field or "", error.field)
        raise InvalidInput(error.reason, field=field) from None
    async with client:
        yield ServerSource(client, address, settings.zone, settings.public_url or masked(address.url))


def _asking(
    function: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """Translate the client's errors of a method."""

    @functools.wraps(function)
    async def asked(*args: P.args, **named: P.kwargs) -> T:
        try:
            return await function(*args, **named)
        except ClientError as error:
            source: Any = args[0]
            raise await command_error(error, source.address, source.client) from None

    return asked


class ServerSource:
    """Reads and acts over a server, with the rights of a token."""

    def __init__(self, client: AsyncClient, address: ServerAddress, zone: dt.tzinfo, dashboard: str) -> None:
        self.client, self.address = client, address
        self._zone, self._dashboard = zone, dashboard

    @property
    def name(self) -> str:
        return masked(self.address.url)

    @property
    def zone(self) -> dt.tzinfo:
        return self._zone

    @property
    def dashboard(self) -> str | None:
        return self._dashboard

    @_asking
    async def jobs(self, *, newest: bool, after: int, limit: int, **filters: Any) -> tuple[list[JobRecord], bool]:
        if not newest:
            raise InvalidInput("requires a database: a server lists the newest first", field="oldest")
        check_whole("after", after, 0)
        check_whole("limit", limit, 1, PAGE_ROWS)
        cursor = str(after) if after else None
        found: list[JobRecord] = []
        asked = self.client.engine.jobs(cursor=cursor, limit=min(limit + 1, PAGE_ROWS), **_filter(filters))
        async with contextlib.aclosing(asked) as pages:  # type: ignore[type-var]  # a generator, whatever the stub says
            async for job in pages:
                if len(found) == limit:
                    return found, True
                found.append(records.job_record(job))
        return found, False

    @_asking
    async def record(self, job_id: str) -> JobRecord:
        return records.job_record(await self.client.engine.job(job_id))

    @_asking
    async def detail(self, job_id: str) -> JobDetail:
        job = await self.client.engine.job(job_id)
        return JobDetail(records.job_record(job), records.attempts_of(job), records.dependencies_of(job))

    @_asking
    async def log(self, job_id: str, *, attempt: int | None, after: str | None) -> LogPage:
        return records.log_page(await self.client.engine.log(job_id, attempt=attempt, after=after))

    @_asking
    async def explain(self, job_id: str) -> Explanation:
        return records.explanation(await self.client.engine.explain(job_id))

    @contextlib.contextmanager
    def arrivals(self) -> Iterator[asyncio.Event]:
        yield asyncio.Event()  # Polling suffices for one job.

    @_asking
    async def cancel(self, job_id: str) -> State:
        return (await self.client.engine.cancel(job_id)).job.state

    @_asking
    async def retry(self, job_id: str) -> State:
        return (await self.client.engine.retry(job_id)).state

    @_asking
    async def reprioritise(self, job_id: str, priority: int | None, urgent: bool | None) -> State:
        given: dict[str, Any] = {"priority": priority, "urgent": urgent}
        changes = {name: value for name, value in given.items() if value is not None}
        return (await self.client.engine.priority(job_id, **changes)).state

    @_asking
    async def count_unfinished(self, filters: Mapping[str, Any]) -> Count:
        found = await self.client.engine.bulk(BulkAction.CANCEL, _filter(filters), dry_run=True)
        return Count(found.matched, exact=not found.more)

    @_asking
    async def cancel_where(self, filters: Mapping[str, Any]) -> list[str]:
        cancelled: list[str] = []
        while True:
            done = await self.client.engine.bulk(BulkAction.CANCEL, _filter(filters))
            cancelled += done.ids
            if not (done.more and done.done):
                return cancelled

    @_asking
    async def queues(self) -> list[QueueRecord]:
        return [records.queue_record(each) async for each in self.client.engine.queues()]

    @_asking
    async def activity(self, window: float, name: str | None = None) -> Activity:
        listed = self.client.engine.queues(window=math.ceil(window), name=name)
        pairs = [(records.queue_record(each), records.statistics_of(each)) async for each in listed]
        return Activity(records.instant((await self.client.engine.overview()).at), pairs)

    @_asking
    async def change_queue(
        self, name: str, changes: Mapping[str, Any], *, paused: bool | None, create: bool
    ) -> QueueRecord:
        if create:
            raise InvalidInput("requires a database: a server changes existing queues only", field="create")
        given = {field: value for field, value in {**changes, "paused": paused}.items() if value is not None}
        return records.queue_record(await self.client.engine.change_queue(name, **given))

    @_asking
    async def instances(self) -> list[InstanceRecord]:
        return [records.instance_record(each) for each in (await self.client.engine.instances()).items]

    @_asking
    async def running(self, limit: int) -> list[JobRecord]:
        found, _ = await self.jobs(newest=True, after=0, limit=PAGE_ROWS - 1, states=[State.RUNNING])
        return sorted(found, key=lambda job: job.started_at or job.created_at)[:limit]


def _filter(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the server's names of the options' filters."""
    given = {name: value for name, value in filters.items() if value is not None}
    if "work_item" in given:
        raise InvalidInput("requires a database: a server has no such filter", field="work-item")
    if "states" in given:
        given["state"] = list(given.pop("states"))
    return given
