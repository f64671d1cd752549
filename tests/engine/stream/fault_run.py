"""Stream jobs under faults: mangled messages, dying workers, a Redis that loses everything."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from hanbeon import App, State
from hanbeon.errors import WrongState
from hanbeon.job import Job
from hanbeon.stream_worker import Reporter, Request, Result, StreamWorker, WorkFailed
from tests.databases.valkey import ValkeyServer
from tests.storm.moments import until

TASK, STREAM = "thumb", "thumbs"
PATIENCE = 120.0


async def work(request: Request, report: Reporter) -> Result:
    await report.progress(30, "one")
    await asyncio.sleep(request.args["seconds"])
    await report.progress(60, "two")
    if request.args["end"] == "fail":
        raise WorkFailed("BROKEN", "as asked", permanent=True)
    return {"resultUri": f"out/{request.job_id}", "checksum": "00", "result": request.args["n"]}


class FaultRun:
    """Creates jobs, disturbs everything, and checks that each job has the end that it should have."""

    def __init__(self, app: App, valkey: ValkeyServer, seed: int, jobs: int) -> None:
        self.app, self.valkey, self.count = app, valkey, jobs
        self.random = random.Random(seed)
        self.jobs: list[Job[Any]] = []
        self.ends: dict[str, State] = {}
        self.cancelled: set[str] = set()
        self.garbage: set[str] = set()
        self._workers: list[tuple[StreamWorker, asyncio.Task[None]]] = []

    async def run(self, *, wipes: int = 1) -> None:
        self._start_workers(3)
        for n in range(self.count):
            end = self.random.choice(["succeed", "succeed", "fail"])
            arguments = {"n": n, "end": end, "seconds": self.random.choice([0.0, 0.0, 0.05])}
            job = await self.app.enqueue(TASK, arguments)
            self.jobs.append(job)
            self.ends[job.id] = State.SUCCEEDED if end == "succeed" else State.FAILED
        wipe_at = {self.count * (n + 1) // (wipes + 1) for n in range(wipes)}
        for n in range(self.count):
            await self._disturb()
            if n in wipe_at:
                self.valkey.restart()
                self._start_workers(1)
        for job in self.jobs:
            await job.wait(PATIENCE)
        await self._write_garbage()
        await self._stop_workers()

    async def check(self) -> None:
        """Assert that every job ended once, rightly, and that only garbage is in the dead letters."""
        for job in self.jobs:
            record = await job.record()
            fits = record.state is self.ends[job.id] or (job.id in self.cancelled and record.state is State.CANCELLED)
            assert fits, (record.state, self.ends[job.id], job.id in self.cancelled)
            if record.state is State.SUCCEEDED:
                assert json.loads(record.result or "") == self.jobs.index(job)
            ends = [attempt for attempt in await job.attempts() if attempt.attempt == record.fence]
            assert len(ends) <= 1
        redis: Any = Redis.from_url(self.valkey.url, decode_responses=True)
        await until("the dead letters", lambda: self._letters(redis), timeout=PATIENCE)
        letters = [letter for _, letter in await redis.xrange(f"{STREAM}.deadletter")]
        assert all(letter["reason"] and letter["stream"].startswith(STREAM) for letter in letters)
        assert self.garbage <= {json.loads(letter["payload"]).get("message") for letter in letters}
        assert all("message" in json.loads(letter["payload"]) for letter in letters), "only garbage is dead"
        await redis.aclose()

    async def _letters(self, redis: Any) -> bool | None:
        return True if await redis.xlen(f"{STREAM}.deadletter") >= len(self.garbage) else None

    async def _disturb(self) -> None:
        """Do one thing that should not matter."""
        job = self.random.choice(self.jobs)
        redis: Any = Redis.from_url(self.valkey.url, decode_responses=True)
        try:
            match self.random.randrange(7):
                case 0:
                    await self._cancel(job)
                case 1:  # A reply of an attempt that never was.
                    stale = {"jobId": job.id, "fence": 99, "status": "SUCCEEDED", "result": "-1"}
                    await redis.xadd(f"{STREAM}.results", stale)
                case 2:  # A duplicate of whatever was sent last.
                    for stream in ("progress", "results"):
                        for _, fields in await redis.xrevrange(f"{STREAM}.{stream}", count=1):
                            await redis.xadd(f"{STREAM}.{stream}", fields)
                case 3:  # A worker dies with its work.
                    if self._workers:
                        worker, task = self._workers.pop(0)
                        for attempt in worker._running.values():
                            attempt.abandon()
                        task.cancel()
                        self._start_workers(1)
                case 4:  # Progress of the future and of the past.
                    for percent in (90, 10):
                        fields = {"jobId": job.id, "fence": 1, "progress": percent, "phase": "", "message": ""}
                        await redis.xadd(f"{STREAM}.progress", fields)
                case _:
                    await asyncio.sleep(0.02)
        except (RedisError, OSError):
            await asyncio.sleep(0.1)
        finally:
            await redis.aclose()

    async def _cancel(self, job: Job[Any]) -> None:
        if (await job.record()).finished_at is None:
            self.cancelled.add(job.id)
            with contextlib.suppress(WrongState):  # It has just ended.
                await job.cancel()

    async def _write_garbage(self) -> None:
        redis: Any = Redis.from_url(self.valkey.url, decode_responses=True)
        broken: list[tuple[str, dict[str, Any]]] = [
            ("progress", {"jobId": self.jobs[0].id}),
            ("progress", {"progress": "5"}),
            ("progress", {"jobId": self.jobs[0].id, "progress": "many"}),
            ("results", {"jobId": self.jobs[0].id, "status": "DONE"}),
            ("results", {"jobId": "7", "status": "SUCCEEDED"}),
            ("results", {"jobId": self.jobs[0].id, "status": "SUCCEEDED", "result": "{"}),
            ("results", {"jobId": "01a00000-0000-7000-8000-000000000000", "status": "SUCCEEDED"}),
            ("results", {b"\xff": b"\xfe"}),  # type: ignore[dict-item]
        ]
        for n, (stream, fields) in enumerate(broken):
            self.garbage.add(f"garbage {n}")
            await redis.xadd(f"{STREAM}.{stream}", {**fields, "message": f"garbage {n}"})
        await redis.aclose()

    def _start_workers(self, count: int) -> None:
        for _ in range(count):
            worker = StreamWorker(self.valkey.url, STREAM, {TASK: work}, concurrency=4, take_over=3.0)
            self._workers.append((worker, asyncio.create_task(worker.run())))

    async def _stop_workers(self) -> None:
        for worker, _ in self._workers:
            worker.stop()
        await asyncio.gather(*(task for _, task in self._workers), return_exceptions=True)
