"""Helpers for tests that run an office step by step."""

import asyncio
from typing import Any

import pytest

from hanbeon import App, PermanentError, SyncContext, TaskError
from hanbeon.domain.job import JobRecord
from hanbeon.errors import HanbeonError
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.service import Offices
from hanbeon.testing import TestKit

SESSIONS = {"default": "work"}


class Gates:
    """Events that tasks wait for, and the attempts that have begun."""

    def __init__(self) -> None:
        self.hold, self.stop = asyncio.Event(), asyncio.Event()
        self.ran: list[str] = []


def add_tasks(app: App) -> Gates:
    gates = Gates()

    @app.task
    async def work(name: str = "") -> str:
        gates.ran.append(name)
        return name

    @app.task
    async def hold() -> None:
        await gates.hold.wait()

    @app.task
    async def stubborn() -> None:
        """Is cancelled, and takes its time to stop."""
        try:
            await gates.hold.wait()
        except asyncio.CancelledError:
            await gates.stop.wait()
            raise

    @app.task
    async def fail(failure_type: str = "error", permanent: bool = False) -> None:
        raise (PermanentError if permanent else TaskError)("on purpose", failure_type=failure_type)

    @app.task
    def say(ctx: SyncContext) -> None:
        ctx.log("half way")

    return gates


class OfficeKit:
    """One office on a kit, with the tasks above."""

    def __init__(self, kit: TestKit, gates: Gates) -> None:
        self.kit, self.gates = kit, gates
        self.offices = Offices(kit.app, kit.worker)
        self.id = ""

    async def open(self, **body: Any) -> schemas.Office:
        office = await self.offices.create(**({"name": "an office", "sessions": SESSIONS} | body))
        self.id = office.id
        return office

    async def make(self, *jobs: dict[str, Any]) -> list[schemas.Job]:
        return (await self.offices.create_jobs(self.id, jobs=list(jobs))).jobs

    async def one(self, **job: Any) -> schemas.Job:
        return (await self.make(job))[0]

    async def job(self, job: schemas.Job | str) -> schemas.JobDetail:
        return await self.offices.job(self.id, job if isinstance(job, str) else job.id)

    async def status(self, *jobs: schemas.Job) -> list[str]:
        return [(await self.job(job)).status.value for job in jobs]

    async def record(self, job: schemas.Job) -> JobRecord:
        return await self.kit.app.store.job(job.id)

    async def refused(self, kind: type[HanbeonError], *jobs: Any) -> HanbeonError:
        """Check that a batch is rejected and leaves nothing behind."""
        before = await self.offices.stats(self.id)
        with pytest.raises(kind) as refusal:
            await self.make(*jobs)
        assert await self.offices.stats(self.id) == before
        return refusal.value

    async def events(self, after: int = 0) -> list[schemas.SchedulerEvent]:
        """Return every event of the office after that id, page by page."""
        found: list[schemas.SchedulerEvent] = []
        while True:
            page = await self.offices.events(self.id, after=after)
            found += page.items
            after = page.after
            if not page.more:
                return found

    async def job_events(self) -> list[tuple[str, str]]:
        """Return the type and the job id of every event of the office."""
        return [(event.type.value, event.job_id) for event in await self.events()]

    async def types(self, job: schemas.Job) -> list[str]:
        return [kind for kind, job_id in await self.job_events() if job_id == job.id]
