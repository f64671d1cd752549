"""The state of a release, read from the database like any other client would."""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import Any, NamedTuple

import msgspec

from hanbeon.cli.demo.pipeline import CHECKS, OFFICE, Pipeline
from hanbeon.domain.events import Event
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import TERMINAL, AttemptStatus, Reason, State
from hanbeon.store.operations import events as event_rows

RATE_SECONDS = 40


class BoardLine(NamedTuple):
    """An event, and the agent and title of its job."""

    event: Event
    agent: str
    title: str


class Board:
    """The jobs of the current release, the latest events, and totals."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self.zone = pipeline.app.settings.zone
        self._titles: dict[str, tuple[str, str]] = {}
        self._after = 0
        self._started = time.monotonic()
        self._done_at: deque[float] = deque(maxlen=2_000)
        self.release = 0
        self.jobs: list[JobRecord] = []
        self.lines: deque[BoardLine] = deque(maxlen=200)
        self.counted: Counter[Reason] = Counter()
        self.timeouts = 0

    async def open(self) -> None:
        """Skip the events that exist already."""
        await self._pipeline.app.store.number_events()
        self._after = await self._pipeline.app.store.read(event_rows.last_event_id)

    async def start(self, release: int) -> None:
        self.release = release
        await self._pipeline.start(release)
        await self._read_jobs()
        self._titles = {job.id: _title(job) for job in self.jobs}

    async def refresh(self) -> list[BoardLine]:
        """Read the current state of the jobs, and return their new events."""
        new: list[BoardLine] = []
        while events := await self._pipeline.app.events_after(self._after):
            self._after = events[-1].id
            new += [BoardLine(event, *self._titles[event.job_id]) for event in events if event.job_id in self._titles]
        for line in new:
            self._count(line.event)
        self.lines.extend(new)
        await self._read_jobs()
        return new

    async def _read_jobs(self) -> None:
        self.jobs = await self._pipeline.app.jobs(work_item=self._pipeline.work_item(self.release))

    def _count(self, event: Event) -> None:
        self.counted[Reason(event.type)] += 1
        if event.type == Reason.SUCCEEDED:
            self._done_at.append(time.monotonic())
        if event.details.get("status") == AttemptStatus.TIMEOUT:
            self.timeouts += 1

    @property
    def office(self) -> list[JobRecord]:
        return [job for job in self.jobs if job.queue == OFFICE]

    @property
    def checks(self) -> list[JobRecord]:
        return [job for job in self.jobs if job.queue == CHECKS]

    @property
    def finished(self) -> bool:
        return all(job.state in TERMINAL for job in self.jobs)

    @property
    def succeeded(self) -> bool:
        return all(job.state is State.SUCCEEDED for job in self.jobs)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def rates(self) -> list[int]:
        """Jobs succeeded in each of the last seconds, the latest last."""
        now = time.monotonic()
        ages = Counter(int(now - at) for at in self._done_at)
        return [ages[age] for age in reversed(range(RATE_SECONDS))]

    def title(self, job: JobRecord) -> str:
        return self._titles[job.id][1]


def _title(job: JobRecord) -> tuple[str, str]:
    """Return the agent that runs a job, and the job's title."""
    args: dict[str, Any] = msgspec.json.decode(job.args)
    return (job.role, args["title"]) if job.queue == OFFICE else (job.concurrency_key, f"check the {args['page']} page")
