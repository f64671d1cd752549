"""Unique keys, and the same idempotency key or id sent again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import msgspec

from hanbeon.ids import new_id
from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload.jobs import flaky, ledger, plain, slow
from tests.simulation.workload.load import Book, Load


class Keys(Load):
    operations: ClassVar[dict[str, int]] = {"unique": 4, "idempotent": 3, "again": 3}

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self._sent: list[Any] = []
        self.oracles = (self.keys_are_held_once,)

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        client = simulation.app
        if kind == "unique":
            request: Any = rng.choice((plain, slow, ledger, flaky)).call(seconds=rng.choice((0.0, 1.0, 4.0)), count=1)
            options: dict[str, Any] = {"unique_key": rng.choice(("u1", "u2"))}
            options["on_conflict"] = rng.choice(("refuse", "skip", "replace_pending"))
            if rng.random() < 0.4:
                options["delay"] = rng.choice((1.0, 10.0))
            await self.book.enqueue(client, [request.set(**options)], [1])
        elif kind == "idempotent":
            request = plain.call(seconds=rng.choice((0.0, 1.0))).set(idempotency_key=f"i{rng.randrange(10**6)}")
            self._sent.append(request)
            await self.book.enqueue(client, [request], [1])
        elif self._sent:
            request = rng.choice(self._sent)
            if rng.random() < 0.5:
                request = msgspec.structs.replace(request, id=new_id())
            await self.book.enqueue(client, [request], [1])

    def keys_are_held_once(self, evidence: Evidence) -> Iterator[str]:
        held: dict[str, list[Any]] = {}
        used: dict[str, list[str]] = {}
        for job in evidence.jobs.values():
            if job.unique_key and job.id in self.book.jobs:
                held.setdefault(job.unique_key, []).append(job)
            if job.idempotency_key:
                used.setdefault(job.idempotency_key, []).append(job.id)
        for key, ids in used.items():
            if len(ids) > 1:
                yield f"idempotency key {key} made {ids}"
        if evidence.world.steps_of_clock:
            return  # Instants of rows cannot be compared.
        for key, jobs in held.items():
            for older, newer in pairwise(sorted(jobs)):
                if older.id in self.book.retried or newer.id in self.book.retried or older.seq in evidence.marked_done:
                    continue
                if older.finished_at is None or older.finished_at > newer.created_at:
                    yield f"unique key {key} is held by {older.id} and, since before its end, by {newer.id}"
