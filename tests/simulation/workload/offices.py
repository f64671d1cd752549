"""Offices: their jobs, and webhooks that hear of each event, by a server that sometimes fails."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload.load import Book, Load

_REFUSED_SHARE = 0.2
_ADDRESS = "http://listener.example/{}"
_ENDS = {"succeeded": "job_completed", "cancelled": "job_cancelled"}


class Offices(Load):
    operations: ClassVar[dict[str, int]] = {"office": 1, "office_jobs": 4, "office_cancel": 1, "office_change": 1}

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self._offices: list[str] = []
        self._jobs: list[tuple[str, str]] = []
        self._accepted: Counter[str] = Counter()
        self._simulation: Simulation
        self.oracles = (self.deliveries_were_accepted, self.each_end_is_announced_once)

    async def prepare(self, simulation: Simulation) -> None:
        self._simulation = simulation
        simulation.world.http = self._answer

    def _answer(self, url: str) -> tuple[int, str]:
        world = self._simulation.world
        if not self._simulation.is_healed and world.draw() < _REFUSED_SHARE:
            return 503, "busy"
        self._accepted[world.requests[-1].headers["webhook-id"]] += 1
        return 200, "taken"

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        offices = simulation.app.offices
        if kind == "office" and len(self._offices) < 3:
            made = await offices.create(
                name=f"office {len(self._offices)}",
                config={"maxConcurrentJobs": rng.choice((1, 3)), "maxRetries": 3, "retryBaseDelay": 500},
                sessions={"default": "plain", "x": "flaky"},
                webhooks=[
                    {"url": _ADDRESS.format(number), "secret": "a secret"} for number in range(rng.choice((0, 1, 2)))
                ],
            )
            self._offices.append(made.id)
        elif kind == "office_jobs" and self._offices:
            office = rng.choice(self._offices)
            jobs = [_job(rng, number) for number in range(rng.choice((1, 2, 5)))]
            answer = await offices.create_jobs(office, jobs=jobs)
            self._jobs += [(office, job.id) for job in answer.jobs]
        elif kind == "office_cancel" and self._jobs:
            await offices.cancel(*rng.choice(self._jobs))
        elif kind == "office_change" and self._offices:
            await offices.change_config(rng.choice(self._offices), maxConcurrentJobs=rng.choice((1, 2, 5)))

    def deliveries_were_accepted(self, evidence: Evidence) -> Iterator[str]:
        """A message that counts as delivered was accepted; it may have been sent more often than that."""
        for job in evidence.jobs.values():
            if job.task == "hanbeon.webhook" and job.state == "succeeded" and not self._accepted[job.id]:
                yield f"message {job.id} counts as delivered, and nobody has accepted it"

    def each_end_is_announced_once(self, evidence: Evidence) -> Iterator[str]:
        """There is one message of each end of a job for each webhook of its office."""
        if evidence.is_pruned:
            return
        listeners = Counter(office for (office,) in evidence.rows("SELECT office_id FROM hanbeon_listener"))
        rows = evidence.rows(
            "SELECT CAST(meta AS text) FROM hanbeon_jobs WHERE task = ?",
            "hanbeon.webhook",
        )
        parsed = [json.loads(meta) for (meta,) in rows if meta]
        announced = Counter((meta.get("job"), meta.get("type")) for meta in parsed)
        for job in evidence.jobs.values():
            office = job.queue.removeprefix("office:")
            if office == job.queue or job.state not in _ENDS or job.seq in evidence.marked_done:
                continue
            if announced[job.id, _ENDS[job.state]] != listeners[office]:
                yield (
                    f"{job.id} is {job.state}, and there are {announced[job.id, _ENDS[job.state]]} messages of it for "
                    f"{listeners[office]} webhooks"
                )


def _job(rng: random.Random, number: int) -> dict[str, Any]:
    job: dict[str, Any] = {
        "key": f"k{number}",
        "args": {"seconds": rng.choice((0.0, 0.5, 2.0)), "count": rng.randint(1, 2)},
        "role": rng.choice(("", "x")),
    }
    if number and rng.random() < 0.5:
        job |= {"depends_on": [f"k{rng.randrange(number)}"], "on_dependency_failure": "fail"}
    return job
