"""A kind of load: its operations, its tasks, and what must hold of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hanbeon import App
from hanbeon.errors import DatabaseUnavailable, HanbeonError
from hanbeon.job import Job
from hanbeon.tasks.request import JobRequest
from hanbeon.testing.simulation import Oracle, Simulation

app = App("sqlite:///unused.db", chain_libraries="tests.simulation.workload.chain_operations")
"""All tasks of the workload."""


@dataclass
class Asked:
    """A job that the client asked for, and what it knows of it."""

    id: str
    kind: str
    queue: str
    depends_on: tuple[str, ...]
    count: int
    answer: str = "unknown"
    """`created`, `other` if a key led to another job, `unknown`, or the error that refused it."""


@dataclass
class Book:
    """The requests of the client, and how they were answered."""

    jobs: dict[str, Asked] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    retried: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    """Jobs of which one call was refused and another not."""

    backup: dict[str, str] = field(default_factory=dict)
    """The answers as they were when the last backup began."""

    def back_up(self) -> None:
        self.backup = {asked.id: asked.answer for asked in self.jobs.values()}

    def restore(self) -> None:
        """Doubt the answers since the backup. Those of before stand: what was created is in it."""
        for asked in self.jobs.values():
            if self.backup.get(asked.id) != asked.answer:
                asked.answer = "unknown"

    def known(self) -> list[str]:
        return [each.id for each in self.jobs.values() if each.answer == "created"]

    async def enqueue(
        self, client: App, requests: Sequence[JobRequest[Any]], counts: Sequence[int], transaction: Any = None
    ) -> None:
        """Ask for jobs, and write down the answer."""
        for request, count in zip(requests, counts, strict=True):
            kind = request.task if isinstance(request.task, str) else request.task.name
            asked = Asked(request.id, kind, request.queue or "default", request.depends_on, count)
            self.jobs.setdefault(request.id, asked)
        try:
            answers = await client.enqueue_many(requests, transaction=transaction)
        except DatabaseUnavailable:
            raise
        except HanbeonError as error:
            for request in requests:
                self._refused(self.jobs[request.id], type(error).__name__)
            if transaction is not None:
                raise  # Of a transaction in which something was refused nothing is committed.
            return
        for request, job in zip(requests, answers, strict=True):
            self._answered(self.jobs[request.id], job)

    def _refused(self, asked: Asked, error: str) -> None:
        if asked.answer in ("created", "unknown"):
            self.doubtful.add(asked.id)
        if asked.answer != "created":
            asked.answer = error

    def _answered(self, asked: Asked, job: Job[Any]) -> None:
        asked.answer = "created" if job.id == asked.id else "other"


class Load:
    """A kind of load. To add one: a file with a subclass, and its name in `loads.py`."""

    operations: ClassVar[dict[str, int]]
    """The kinds of operations, with how often they occur relative to others."""
    oracles: Sequence[Oracle] = ()

    def __init__(self, book: Book) -> None:
        self.book = book

    def plan(self, kind: str, rng: random.Random) -> dict[str, Any]:
        """Return the arguments of an operation for a plan."""
        return {}

    def set_up(self, simulation: Simulation, app: App) -> None:
        """Change the App of a process before it is opened."""

    def restored(self, simulation: Simulation) -> None:
        """Forget what the restore of a backup has undone."""

    async def prepare(self, simulation: Simulation) -> None:
        """Configure what it needs, before there are workers."""

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        """Make a call. Refusals are expected; `rng` is the operation's own."""
        raise NotImplementedError

    async def calm(self, simulation: Simulation) -> None:
        """Undo what keeps jobs from ending."""

    async def encourage(self, simulation: Simulation) -> None:
        """Do what an operator would while jobs are left."""

    async def finish(self, simulation: Simulation) -> None:
        """Make the last calls, when all jobs have ended."""
