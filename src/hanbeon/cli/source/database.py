"""The database as a source of commands."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from hanbeon.app import App
from hanbeon.cli.source.source import Activity, Count, JobDetail
from hanbeon.clock import micros
from hanbeon.domain.bounds import PAGE_ROWS
from hanbeon.domain.explain import Explanation
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.domain.log import LogPage
from hanbeon.domain.statistics import QueueStatistics, check_window
from hanbeon.settings import masked
from hanbeon.store.operations import queries
from hanbeon.store.operations.cancel import CancelFilter
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.prune import TIMINGS_KEPT_US
from hanbeon.store.operations.queues import QueueRecord


class DatabaseSource:
    """Reads and acts beside the database."""

    def __init__(self, app: App) -> None:
        self._app = app

    @property
    def name(self) -> str:
        return masked(self._app.settings.database_url)

    @property
    def zone(self) -> dt.tzinfo:
        return self._app.settings.zone

    @property
    def dashboard(self) -> str | None:
        return self._app.settings.public_url

    async def jobs(self, *, newest: bool, after: int, limit: int, **filters: Any) -> tuple[list[JobRecord], bool]:
        query = {"newest": newest, **filters}
        found = await self._app.jobs(after=after, limit=limit, **query)
        more = len(found) == limit and bool(await self._app.jobs(after=found[-1].seq, limit=1, **query))
        return found, more

    async def record(self, job_id: str) -> JobRecord:
        return await self._app.job(job_id).record()

    async def detail(self, job_id: str) -> JobDetail:
        job = self._app.job(job_id)
        return JobDetail(
            await job.record(),
            await job.attempts(),
            await self._app.store.read(lambda tx: queries.dependencies_of(tx, job_id)),
        )

    async def log(self, job_id: str, *, attempt: int | None, after: str | None) -> LogPage:
        return await self._app.log(job_id, attempt=attempt, after=after)

    async def explain(self, job_id: str) -> Explanation:
        return await self._app.explain(job_id)

    @contextlib.contextmanager
    def arrivals(self) -> Iterator[asyncio.Event]:
        arrived = asyncio.Event()
        with self._app.hub.calling(arrived.set, "event"):
            yield arrived

    async def cancel(self, job_id: str) -> State:
        return await self._app.cancel(job_id)

    async def retry(self, job_id: str) -> State:
        return await self._app.retry(job_id)

    async def reprioritise(self, job_id: str, priority: int | None, urgent: bool | None) -> State:
        await self._app.reprioritise(job_id, priority=priority, urgent=urgent)
        return await self._app.job(job_id).state()

    async def count_unfinished(self, filters: Mapping[str, Any]) -> Count:
        return Count(await self._app.store.count_unfinished(CancelFilter(**filters)))

    async def cancel_where(self, filters: Mapping[str, Any]) -> list[str]:
        return await self._app.cancel_where(**filters)

    async def queues(self) -> list[QueueRecord]:
        return await self._app.queues()

    async def activity(self, window: float, name: str | None = None) -> Activity:
        check_window(window, TIMINGS_KEPT_US)
        pairs: list[tuple[QueueRecord, QueueStatistics]] = []
        while True:
            after = pairs[-1][0].name if pairs else ""
            page, numbers, now = await self._app.store.queue_page(after, PAGE_ROWS, micros(window), name)
            pairs += [(queue, numbers[queue.name]) for queue in page.items]
            if not page.more:
                return Activity(now, pairs)

    async def change_queue(
        self, name: str, changes: Mapping[str, Any], *, paused: bool | None, create: bool
    ) -> QueueRecord:
        if paused is None:
            return await self._app.configure_queue(name, **changes)
        return await (self._app.pause(name) if paused else self._app.resume(name))

    async def instances(self) -> list[InstanceRecord]:
        return await self._app.instances()

    async def running(self, limit: int) -> list[JobRecord]:
        return await self._app.store.read(lambda tx: queries.running_jobs(tx, limit))
