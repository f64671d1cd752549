"""A mixed workload of jobs, and what must hold at the end whatever happened meanwhile."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hanbeon import App
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.tasks.request import JobRequest
from tests.guarantees import guarantee
from tests.storm.moments import assert_sound, ledger_of, make_ledger, rows_of, until
from tests.storm.sizes import TIMEOUT

_PAGE = 1000
_NEAR = 300
"""Dependencies are among so many jobs before."""
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


_JOBS = "SELECT seq, CAST(id AS text) AS id, task, state, work_item FROM hanbeon.jobs WHERE seq > $1 ORDER BY seq"
_COMPLETED = "SELECT job, count(*) AS n FROM hanbeon.attempt WHERE status = 'completed' AND job > $1 GROUP BY job"


@dataclass
class Verdict:
    """Everything that was asked for and did not happen, and everything that happened more often than it may."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)

    def add(self, other: Verdict) -> None:
        self.lost += other.lost
        self.doubled += other.doubled

    def compare(self, what: str, found: Counter[str], wanted: Counter[str]) -> None:
        """Note what was found less or more often than it was wanted."""
        self.lost += [f"{what} {each}: {found[each]} of {count}" for each, count in (wanted - found).items()]
        self.doubled += [f"{what} {each}: {found[each]}, not {wanted[each]}" for each in found - wanted]


@dataclass
class Workload:
    """The requested jobs, which of them write a row, and how many children each has."""

    pauses: ClassVar = (0.0, 0.0, 0.005, 0.02)
    """Seconds that a body stays after its first write."""
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
            made.add(app, rng, kind)
        return made

    def add(self, app: App, rng: random.Random, kind: str) -> None:
        args: dict[str, Any] = {}
        if kind in ("nap", "threaded"):
            args["seconds"] = rng.choice((0.0, 0.01, 0.05))
        elif kind == "flaky":
            args["failures"] = rng.randint(1, 3)
        elif kind not in ("quick", "dependent"):
            args["pause"] = rng.choice(self.pauses)
        if kind in ("parent", "ledger_parent"):
            args["children"] = rng.randint(1, 3)
        task = app.tasks.get("quick" if kind == "dependent" else kind)
        request = JobRequest(task=task, args=task.signature.pack((), args))
        if kind == "dependent":
            # Of the same queue, as dependencies must be.
            near = [each for each in self.requests[-_NEAR:] if each.queue == request.queue]
            request = request.set(after=rng.sample(near, k=min(len(near), rng.randint(1, 3))))
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

    async def assert_done_once(self, app: App) -> None:
        """Check that nothing is lost, stuck or done twice: every guarantee that can be counted, and the audit."""
        verdict = await self.judge(app)
        with guarantee():
            assert verdict == Verdict()
        await assert_sound(app)

    async def judge(self, app: App, since: int = 0) -> Verdict:
        """Judge the jobs created after the one with the number `since`, once all have ended: those of these tasks."""
        asked = {request.id for request in self.requests}
        tasks = {request.task.name for request in self.requests} | ({"child"} if self.children else set())
        jobs = [row for row in await rows_of(app.store, _JOBS, since) if row["task"] in tasks]
        verdict = Verdict()
        verdict.compare("job", Counter(row["id"] for row in jobs if row["id"] in asked), Counter(asked))
        verdict.lost += [f"job {row['id']} of {row['task']} is {row['state']}" for row in self._failed(jobs)]
        ended = {row["seq"]: row["id"] for row in jobs if row["state"] == State.SUCCEEDED}
        completed = await rows_of(app.store, _COMPLETED, since)
        times = Counter({ended[row["job"]]: row["n"] for row in completed if row["job"] in ended})
        verdict.compare("success of", times, Counter(ended.values()))
        # Children exist once for each parent's success, and rows once for each job that writes one.
        born = Counter(str(row["work_item"]) for row in jobs if row["id"] not in asked)
        verdict.compare("children of", born, Counter(self.children))
        written = Counter(job_id for job_id, _ in await ledger_of(app) if job_id in asked)
        verdict.compare("row of", written, Counter(self.writers))
        return verdict

    def _failed(self, jobs: Sequence[Any]) -> Iterator[Any]:
        return (row for row in jobs if row["state"] != State.SUCCEEDED)
