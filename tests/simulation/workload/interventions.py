"""The work of operators: cancel, retry, mark done, reprioritise, pause, change limits, drain, read."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

from hanbeon.errors import HanbeonError
from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload.load import Book, Load


class Interventions(Load):
    operations: ClassVar[dict[str, int]] = {
        "cancel": 4,
        "cancel_where": 1,
        "retry": 2,
        "mark_done": 1,
        "reprioritise": 2,
        "pause": 1,
        "configure": 1,
        "drain": 1,
        "read": 1,
    }

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self._counts: dict[str, int] = {}
        self._statistics: dict[str, Any] = {}
        self.oracles = (self.counts_are_exact,)

    async def prepare(self, simulation: Simulation) -> None:
        await simulation.app.configure_queue("limited", max_concurrent=2)

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        client, known = simulation.app, self.book.known()
        if kind == "cancel" and known:
            job = rng.choice(known)
            self.book.cancelled.add(job)
            with contextlib.suppress(HanbeonError):
                await client.cancel(job)
        elif kind == "cancel_where":
            self.book.cancelled |= set(await client.cancel_where(queue=rng.choice(("keyed", "limited"))))
        elif kind == "retry":
            ended = await client.jobs(states=["failed", "cancelled"])
            if mine := [each.id for each in ended if each.id in self.book.jobs]:
                job = rng.choice(mine)
                self.book.retried.add(job)
                with contextlib.suppress(HanbeonError):
                    await client.retry(job)
        elif kind == "mark_done":
            ended = await client.jobs(states=["failed", "cancelled"])
            if mine := [each.id for each in ended if each.id in self.book.jobs]:
                with contextlib.suppress(HanbeonError):
                    await client.mark_done(rng.choice(mine), "an operator did it")
        elif kind == "reprioritise" and known:
            with contextlib.suppress(HanbeonError):
                await client.reprioritise(rng.choice(known), priority=rng.randint(-3, 3))
        elif kind == "pause":
            queue = rng.choice(("default", "limited"))
            await client.pause(queue)
            await asyncio.sleep(rng.choice((1.0, 10.0)))
            await client.resume(queue)
        elif kind == "configure":
            await client.configure_queue("limited", max_concurrent=rng.choice((1, 2, 3)))
        elif kind == "drain":
            await self._drain(simulation, rng)
        elif kind == "read":
            await client.counts()
            await client.statistics()

    async def _drain(self, simulation: Simulation, rng: random.Random) -> None:
        """Let a worker claim nothing for a while; its process may be gone meanwhile."""
        engine = simulation.app.engine
        instances = (await engine.instances()).items
        if not instances:
            return
        number = rng.choice(instances).id
        with contextlib.suppress(HanbeonError):
            await engine.drain(number)
        await asyncio.sleep(rng.choice((1.0, 5.0)))
        with contextlib.suppress(HanbeonError):
            await engine.resume(number)

    async def calm(self, simulation: Simulation) -> None:
        for queue in ("default", "limited"):
            with contextlib.suppress(HanbeonError):
                await simulation.app.resume(queue)
        for instance in (await simulation.app.engine.instances()).items:
            with contextlib.suppress(HanbeonError):
                await simulation.app.engine.resume(instance.id)

    async def finish(self, simulation: Simulation) -> None:
        client = simulation.app
        self._counts = {str(state): count for state, count in (await client.counts()).items() if count}
        self._statistics = await client.statistics(window=86_400.0)

    def counts_are_exact(self, evidence: Evidence) -> Iterator[str]:
        found = dict(evidence.rows("SELECT state, count(*) FROM hanbeon_job GROUP BY state"))
        if self._counts != found:
            yield f"counts are {self._counts}, but there are {found}"
        if evidence.is_pruned or evidence.world.steps_of_clock:
            return
        for queue, statistics in self._statistics.items():
            jobs = [job for job in evidence.jobs.values() if job.queue == queue]
            seqs = {job.seq for job in jobs}
            states = Counter(job.state for job in jobs)
            shown = {str(state): count for state, count in statistics.states.items() if count}
            expected = {
                "enqueued": len(jobs),
                "started": sum(each.seq in seqs for each in evidence.attempts),
                "succeeded": states["succeeded"],
            }
            said = {name: getattr(statistics, name) for name in expected}
            if shown != dict(states) or said != expected:
                yield f"queue {queue}: statistics say {shown} {said}, rows {dict(states)} {expected}"
