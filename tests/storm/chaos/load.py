"""The load of a phase: jobs of every kind at a pace, and what must have become of them afterwards."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hanbeon import App
from hanbeon.domain.lifecycle import TERMINAL, UNFINISHED, State
from hanbeon.errors import DatabaseUnavailable
from hanbeon.tasks.request import JobRequest
from tests.storm.journal import Journal
from tests.storm.moments import rows_of, until
from tests.storm.race import KEYS, ROLES
from tests.storm.sizes import TIMEOUT
from tests.storm.workload import Verdict, Workload

BATCH, _PAGE, _BACKLOG = 50, 1000, 300
NARROW = "narrow"
LIMITS: dict[str, Any] = {"max_concurrent": 6, "roles": {"FE": 2}, "keys": {"a": 3}}
"""Limits of that queue; that they held is checked by the audit."""
KINDS = {
    "quick": 40,
    "nap": 6,
    "threaded": 4,
    "flaky": 6,
    "dependent": 12,
    "ledger": 8,
    "ledger_threaded": 2,
    "parent": 2,
    "ledger_parent": 2,
    "noted": 4,
    "limited": 6,
    "streamed": 4,
    "once": 3,
    "overdue": 1,
    "processed": 1,
}
_BEGUN = "SELECT CAST(j.id AS text) AS id, a.attempt FROM hanbeon.attempt AS a JOIN hanbeon.job AS j ON j.seq = a.job"


@dataclass
class Mixed(Workload):
    """Jobs of all kinds; some write down that their body ran, as an effect outside the database would show it."""

    # Some are so long that a fault often finds a transaction open.
    pauses: ClassVar = (0.0, 0.005, 0.02, 0.3)
    journal: str = ""
    noting: set[str] = field(default_factory=set)
    """Jobs whose body writes a line at its end."""
    once: set[str] = field(default_factory=set)
    """Jobs whose body must not run a second time: they may fail instead."""

    def add(self, app: App, rng: random.Random, kind: str) -> None:
        options: dict[str, Any] = {}
        args: dict[str, Any] = {"journal": self.journal}
        match kind:
            case "limited":
                kind, options = (
                    "noted",
                    {"queue": NARROW, "role": rng.choice(ROLES), "concurrency_key": rng.choice(KEYS)},
                )
                args["pause"] = rng.choice((0.0, 0.005))
            case "noted":
                args["failures"] = rng.choice((0, 0, 1))
            case "once":
                # In a queue of its own: a job that depends on one that fails would wait for ever.
                options = {"queue": "once"}
                args["pause"] = rng.choice((0.0, 0.5))
            case "processed":
                pass
            case "streamed" | "overdue":
                args = {}
            case _:
                super().add(app, rng, kind)
                return
        task = app.tasks.get(kind)
        request: JobRequest[Any] = JobRequest(task=task, args=task.signature.pack((), args)).set(**options)
        self.requests.append(request)
        if kind == "once":
            self.once.add(request.id)
        if kind in ("noted", "processed", "streamed", "once"):
            self.noting.add(request.id)

    async def judge(self, app: App, since: int = 0) -> Verdict:
        """Judge also what bodies wrote down: each attempt's once, only of attempts, and at least one of a success."""
        verdict = await super().judge(app, since)
        begun = {(row["id"], row["attempt"]) for row in await rows_of(app.store, f"{_BEGUN} AND j.seq > $1", since)}
        lines = [line for line in Journal.at(self.journal).lines() if line[1] in self.noting]
        bodies = Counter((job, int(fence)) for word, job, fence in lines if word in ("ran", "failed"))
        # The worker of a stream that takes an attempt over goes on with it, so its line may be there twice.
        did = {(job, int(fence)) for word, job, fence in lines if word == "did"}
        verdict.doubled += [f"body of {job}, attempt {fence}: {n} times" for (job, fence), n in bodies.items() if n > 1]
        verdict.doubled += [
            f"body of {job}, attempt {fence}: nobody claimed it" for job, fence in {*bodies, *did} - begun
        ]
        ran = Counter(job for word, job, _ in lines if word in ("ran", "did"))
        verdict.doubled += [f"body of {job} ran {ran[job]} times, and must not" for job in self.once if ran[job] > 1]
        verdict.lost += [f"body of {job} never ran" for job in self.noting - self.once - ran.keys()]
        return verdict

    def _failed(self, jobs: Sequence[Any]) -> Iterator[Any]:
        return (row for row in super()._failed(jobs) if row["id"] not in self.once or row["state"] != State.FAILED)


async def nothing_left(app: App) -> bool | None:
    """Return true if every job has ended, None otherwise."""
    counts = await app.counts()
    return None if any(counts[state] for state in UNFINISHED) else True


class Load:
    """Creates the jobs of one phase while its faults happen."""

    def __init__(self, app: App, rng: random.Random, journal: Journal, count: int, kinds: dict[str, int]) -> None:
        self.work = Mixed(journal=str(journal))
        self.backlog: float = min(_BACKLOG, count // 6)
        """The next jobs are created when no more than these are unfinished."""
        self.rate = math.inf
        """At most so many jobs are created in a second."""
        self.count = count
        self.pace = 0.0
        """Jobs that were done in a second, once the load is over."""
        self.over = asyncio.Event()
        """All jobs are created, and nearly all have ended."""
        self._app, self._rng, self._kinds = app, rng, kinds
        self._left = count
        self._ended_before = self._through = 0

    async def begin(self) -> None:
        """Note how many jobs have ended before this load."""
        await until("the counts", self._look)
        self._ended_before = self._through

    async def run(self) -> None:
        """Create all jobs, and wait until nearly all have ended. A job that is not acknowledged is sent again."""
        began = time.monotonic()
        while self._left:
            if not await self._room():
                await asyncio.sleep(0.05)
                continue
            size = min(BATCH, self._left)
            self._left -= size
            await self._create(size, self._kinds)
            await asyncio.sleep(size / self.rate)
        await self.until(0.95)
        self.pace = self._through / (time.monotonic() - began)
        self.over.set()

    async def more(self, size: int, kinds: dict[str, int], **options: Any) -> None:
        """Create so many jobs more, of these kinds and with these options."""
        self.count += size
        for start in range(0, size, _PAGE):
            await self._create(min(_PAGE, size - start), kinds, **options)

    async def _create(self, size: int, kinds: dict[str, int], **options: Any) -> None:
        """Create so many jobs at once. They have ids, so that they can be sent again if there is no answer."""
        start = len(self.work.requests)
        for kind in self._rng.choices(list(kinds), list(kinds.values()), k=size):
            self.work.add(self._app, self._rng, kind)
        batch = self.work.requests[start:] = [request.set(**options) for request in self.work.requests[start:]]
        await until("the jobs are created", lambda: self._app.enqueue_many(batch), TIMEOUT)

    async def until(self, share: float) -> None:
        """Wait until this share of all jobs has ended."""

        async def ask() -> bool | None:
            await self._look()
            return True if self._through >= share * self.count else None

        await until(f"{share:.0%} of the load", ask, TIMEOUT)

    async def lasts(self, seconds: float) -> bool:
        """Wait for so long, but not longer than the load; return true if that is not over."""
        try:
            await asyncio.wait_for(self.over.wait(), seconds)
        except TimeoutError:
            return True
        return False

    async def _room(self) -> bool:
        try:
            return await self._look() <= self.backlog
        except DatabaseUnavailable:
            return False

    async def _look(self) -> int:
        """Return how many jobs are unfinished."""
        counts = await self._app.counts()
        self._through = sum(counts[state] for state in TERMINAL) - self._ended_before
        return sum(counts[state] for state in UNFINISHED)
