"""A mixed workload of jobs, and what must hold at the end whatever happened meanwhile."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Container
from dataclasses import dataclass, field
from typing import Any

from hanbeon import App
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.tasks.request import JobRequest
from tests.guarantees import guarantee
from tests.storm.moments import assert_sound, ledger_of, make_ledger, rows_of, until
from tests.storm.sizes import TIMEOUT

_PAGE = 1000
_KINDS = {
    "quick": 40,
    "nap": 10,
    "threaded": 10,
    "flaky": 10,
    "dependent": 10,
    "ledger": 10,
    "ledger_threaded": 3,
    "parent": 4,
    "ledger_parent": 3,
}


@dataclass
class Workload:
    """The requested jobs, which of them write a row, and how many children each has."""

    requests: list[JobRequest[Any]] = field(default_factory=list)
    writers: set[str] = field(default_factory=set)
    children: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.requests) + sum(self.children.values())

    @classmethod
    def make(cls, app: App, rng: random.Random, count: int, kinds: dict[str, int] | None = None) -> Workload:
        made = cls()
        weights = kinds or _KINDS
        for kind in rng.choices(list(weights), list(weights.values()), k=count):
            made._add(app, rng, kind)
        return made

    def _add(self, app: App, rng: random.Random, kind: str) -> None:
        args: dict[str, Any] = {}
        if kind in ("nap", "threaded"):
            args["seconds"] = rng.choice((0.0, 0.01, 0.05))
        elif kind == "flaky":
            args["failures"] = rng.randint(1, 3)
        elif kind not in ("quick", "dependent"):
            args["pause"] = rng.choice((0.0, 0.0, 0.005, 0.02))
        if kind in ("parent", "ledger_parent"):
            args["children"] = rng.randint(1, 3)
        task = app.tasks.get("quick" if kind == "dependent" else kind)
        request = JobRequest(task=task, args=task.signature.pack((), args))
        if kind == "dependent" and self.requests:
            before = rng.sample(self.requests, k=min(len(self.requests), rng.randint(1, 3)))
            request = request.set(after=before)
        self.requests.append(request)
        if kind.startswith("ledger"):
            self.writers.add(request.id)
        if "children" in args:
            self.children[request.id] = args["children"]

    async def enqueue(self, app: App) -> None:
        await make_ledger(app)
        for start in range(0, len(self.requests), _PAGE):
            await app.enqueue_many(self.requests[start : start + _PAGE])

    async def milestones(self, app: App, rng: random.Random, count: int) -> AsyncIterator[int]:
        """Yield random moments spread over the run: at each, some more jobs have ended."""
        for mark in sorted(rng.sample(range(1, self.size * 9 // 10), k=count)):

            async def passed(mark: int = mark) -> int | None:
                through = (await app.counts()).get(State.SUCCEEDED, 0)
                return through if through >= mark else None

            yield await until(f"{mark} of {self.size} jobs through", passed, TIMEOUT)

    async def until_done(self, app: App, others: int = 0) -> None:
        """Wait until all jobs have ended, except for `others`, which no worker runs."""

        async def ask() -> bool | None:
            counts = await app.counts()
            open_jobs = sum(number for state, number in counts.items() if state not in TERMINAL)
            return True if open_jobs == others and sum(counts.values()) >= len(self.requests) + others else None

        await until("every job has ended", ask, TIMEOUT)

    async def assert_done_once(self, app: App, others: Container[str] = ()) -> None:
        """Check that nothing is lost, stuck or done twice: every guarantee that can be counted, and the audit."""
        records = [record for record in await _all_jobs(app) if record.id not in others]
        asked = {request.id for request in self.requests}
        completed = await rows_of(
            app.store, "SELECT job, count(*) AS n FROM hanbeon.attempt WHERE status = 'completed' GROUP BY job"
        )
        born = Counter(record.work_item for record in records if record.id not in asked)
        written = Counter(job_id for job_id, _ in await ledger_of(app))
        with guarantee():
            assert [record.id for record in records if record.state is not State.SUCCEEDED] == []
            assert asked <= {record.id for record in records}
            assert born == Counter(self.children), "children exist once for each parent's success"
            assert {row["job"] for row in completed} == {record.seq for record in records}
            assert {row["n"] for row in completed} == {1}, "one completed attempt for each job"
            assert written == dict.fromkeys(self.writers, 1), "one row for each job that writes one"
        await assert_sound(app)


async def _all_jobs(app: App) -> list[JobRecord]:
    records: list[JobRecord] = []
    while page := await app.jobs(after=records[-1].seq if records else 0, limit=_PAGE):
        records += page
    return records
