"""Jobs of many kinds, alone and in graphs: retries, timeouts, own writes, children, progress, logs."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

from hanbeon import Context, SyncContext
from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload.load import Book, Load, app

LEDGER = "CREATE TABLE IF NOT EXISTS ledger (job TEXT, fence INTEGER)"
QUEUES = ("default", "default", "limited", "keyed", "roled", "filed")
_MOST = {("roled", "w"): 1, ("roled", "x"): 2, ("keyed", ""): 4} | {("keyed", key): 1 for key in "abc"}
_patient: dict[str, Any] = {"retries": 30, "retry_delay": 0.5, "backoff": "linear"}


@app.task(retries=3, retry_delay=1, jitter=0.2)
async def plain(ctx: Context, seconds: float = 0.0, count: int = 1) -> int:
    if seconds:
        await asyncio.sleep(seconds)
    return count


@app.task(retries=3, retry_delay=1, jitter=0.2)
async def flaky(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    await asyncio.sleep(seconds / 4)
    if ctx.retry_count < count:
        raise RuntimeError("as asked")


@app.task(retries=1, timeout=3, retry_delay=0)
async def slow(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    await asyncio.sleep(seconds)


async def _write(ctx: Context, seconds: float) -> None:
    transaction = await ctx.transaction()
    await transaction.execute("INSERT INTO ledger VALUES ($1, $2)", ctx.job_id, ctx.fence)
    await asyncio.sleep(min(seconds, 1.0))


@app.task(**_patient)
async def ledger(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    await _write(ctx, seconds)


async def _bear(ctx: Context, count: int) -> None:
    for number in range(count):
        queue = ctx.queue if number and ctx.queue != "roled" else "children"
        await ctx.enqueue(plain.call(seconds=0.01).set(work_item=ctx.job_id, queue=queue))


@app.task(**_patient)
async def parent(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    await _bear(ctx, count)
    await asyncio.sleep(seconds / 4)


@app.task(**_patient)
async def ledger_parent(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    await _bear(ctx, count)
    await _write(ctx, seconds)


@app.task(retries=0, on_lost="fail")
async def once(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    await asyncio.sleep(seconds)


@app.task(retries=3, retry_delay=1)
async def postpone(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    if ctx.attempt <= count:
        ctx.retry_in(seconds)


@app.task(retries=3, retry_delay=1)
async def progress(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    for number in range(count):
        await ctx.progress(number)
        await asyncio.sleep(seconds / 4)


@app.task(retries=1, timeout=2, retry_delay=1)
async def hang(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    if ctx.attempt == 1:
        await asyncio.Event().wait()


@app.task(retries=2, retry_delay=1)
async def stubborn(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        await asyncio.sleep(0.2)
        raise


@app.task(**_patient)
async def ledger_chatty(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    ctx.log("before")
    await _write(ctx, seconds)
    await ctx.progress(count)
    ctx.log(f"after, {ctx.fence}")


@app.task(**_patient)
def threaded(ctx: SyncContext, seconds: float = 0.0, count: int = 1) -> int:
    transaction = ctx.transaction()
    transaction.execute("INSERT INTO ledger VALUES ($1, $2)", ctx.job_id, ctx.fence)
    ctx.progress(count)
    return count


@app.task(executor="process", **_patient)
def in_process(ctx: SyncContext, seconds: float = 0.0, count: int = 1) -> int:
    for number in range(count):
        ctx.progress(number)
    return count


KINDS = {
    plain: 6,
    flaky: 3,
    slow: 2,
    ledger: 4,
    parent: 2,
    ledger_parent: 1,
    once: 2,
    postpone: 1,
    progress: 1,
    hang: 1,
    stubborn: 1,
    ledger_chatty: 3,
    threaded: 2,
    in_process: 2,
}
_WRITES_LEDGER = {"ledger", "ledger_parent", "ledger_chatty", "threaded"}
_BEARS = {"parent", "ledger_parent"}


class Jobs(Load):
    operations: ClassVar[dict[str, int]] = {"batch": 14}

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self.oracles = (
            self.own_writes_are_once,
            self.children_are_once,
            self.limits_hold,
            self.dependencies_come_first,
            self.answers_are_true,
            self.lost_work_fails_where_asked,
            self.failures_are_of_the_work,
        )

    def plan(self, kind: str, rng: random.Random) -> dict[str, Any]:
        return {"jobs": [_job(rng, index) for index in range(rng.choice((1, 1, 2, 5, 12)))]}

    async def prepare(self, simulation: Simulation) -> None:
        client = simulation.app
        async with client.transaction() as transaction:
            await transaction.execute(LEDGER)
        await client.configure_queue("keyed", max_concurrent=4, max_per_key=1)
        await client.configure_queue("roled", roles={"w": 1, "x": 2})

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        requests: list[Any] = []
        earlier = self.book.known()
        for job in args["jobs"]:
            task = app.tasks.get(job["kind"])
            request = task.call(seconds=job["seconds"], count=job["count"]).set(**job["options"])
            after: list[Any] = [requests[index] for index in job["after"] if index < len(requests)]
            if job["before"] and earlier:
                after.append(rng.choice(earlier))
            requests.append(request.set(after=after) if after else request)
        await self.book.enqueue(simulation.app, requests, [job["count"] for job in args["jobs"]])

    # Rules

    def own_writes_are_once(self, evidence: Evidence) -> Iterator[str]:
        """Writes of `ctx.transaction()` are there if and only if the job's success is, once."""
        written: dict[str, list[int]] = {}
        for job_id, fence in evidence.rows("SELECT job, fence FROM ledger"):
            written.setdefault(job_id, []).append(fence)
        for job in evidence.jobs.values():
            if job.task in _WRITES_LEDGER and job.seq not in evidence.marked_done:
                rows = written.get(job.id, [])
                if rows != ([job.fence] if job.state == "succeeded" else []):
                    yield f"{job.id} {job.task} is {job.state} with fence {job.fence} and wrote {rows}"

    def children_are_once(self, evidence: Evidence) -> Iterator[str]:
        if evidence.is_pruned:
            return
        born = Counter(job.work_item for job in evidence.jobs.values() if job.work_item)
        for asked in self.book.jobs.values():
            job = evidence.jobs.get(asked.id)
            if job is not None and asked.kind in _BEARS and job.seq not in evidence.marked_done:
                expected = asked.count if job.state == "succeeded" else 0
                if born[asked.id] != expected:
                    yield f"{asked.id} is {job.state} and has {born[asked.id]} children instead of {expected}"

    def limits_hold(self, evidence: Evidence) -> Iterator[str]:
        """By what really ran at once; a body of a process that stood still counts until it froze."""
        if evidence.world.steps_of_clock:
            return  # Leases end early then, and bodies of them run on.
        changes: dict[tuple[str, str], list[tuple[float, int, str]]] = {}
        for body in evidence.world.bodies:
            job = evidence.jobs.get(body.job)
            if job is None or evidence.began_late(body):
                continue
            end = evidence.world.now if body.end is None else body.end
            frozen = [each.begin for each in evidence.freezes_of(body.node) if body.begin <= each.begin <= end]
            end = min([end, *frozen])
            for group in {"roled": {body.role}, "keyed": {"", job.concurrency_key or ""}}.get(body.queue, ()):
                if (body.queue, group) in _MOST:
                    changes.setdefault((body.queue, group), []).extend(((body.begin, 1, job.id), (end, -1, job.id)))
        for place, events in changes.items():
            running = 0
            for at, change, job_id in sorted(events):
                running += change
                if running > _MOST[place]:
                    yield f"{running} of at most {_MOST[place]} ran at once in {place} at {at:.3f}: {job_id}"

    def dependencies_come_first(self, evidence: Evidence) -> Iterator[str]:
        for asked in self.book.jobs.values():
            if asked.id not in evidence.bodies:
                continue
            first = evidence.bodies[asked.id][0].begin
            for before in asked.depends_on:
                job = evidence.jobs.get(before)
                if job is None:
                    continue
                body = evidence.body(before, job.fence)
                if job.seq in evidence.marked_done:
                    continue
                is_met = job.state == "succeeded" and body is not None and body.end is not None and body.end <= first
                if not is_met and before not in self.book.retried:
                    yield f"{asked.id} began at {first:.3f}, before {before} ({job.state}) had succeeded"

    def answers_are_true(self, evidence: Evidence) -> Iterator[str]:
        if evidence.is_pruned:
            return
        for asked in self.book.jobs.values():
            is_there = asked.id in evidence.jobs
            if asked.answer == "created" and not is_there:
                yield f"{asked.id} {asked.kind} was acknowledged and does not exist"
            if asked.answer not in ("created", "unknown") and is_there and asked.id not in self.book.doubtful:
                yield f"{asked.id} {asked.kind} exists though the answer was {asked.answer}"

    def lost_work_fails_where_asked(self, evidence: Evidence) -> Iterator[str]:
        """A task with `on_lost="fail"` begins again only after an attempt that was handed back before it began."""
        seqs = {seq: job.id for seq, job in evidence.by_seq.items()}
        released = {(seqs.get(each.seq), each.attempt) for each in evidence.attempts if each.status == "released"}
        for job_id, bodies in evidence.bodies.items():
            if bodies[0].task != "once" or job_id in self.book.retried or bodies[0].queue.startswith("workflow"):
                continue
            begun = [each.fence for each in bodies if (job_id, each.fence) not in released]
            if len(begun) > 1:
                yield f"{job_id} began {len(begun)} times: {begun}"

    def failures_are_of_the_work(self, evidence: Evidence) -> Iterator[str]:
        """A database that refuses is no failure of the work: a recorded error was raised by the body itself."""
        for attempt in evidence.attempts:
            job = evidence.by_seq.get(attempt.seq)
            if job is None or job.is_built_in or attempt.status != "failed":
                continue
            body = evidence.body(job.id, attempt.attempt)
            outcome = None if body is None else body.outcome
            if attempt.failure_type != "database_unavailable" and outcome not in ("RuntimeError", "TransactionTooLong"):
                why = f"{attempt.failure_type}: {attempt.message}"
                yield f"{job.id} {job.task} attempt {attempt.attempt} failed ({why}), its body {outcome}"


def _job(rng: random.Random, index: int) -> dict[str, Any]:
    (task,) = rng.choices(list(KINDS), list(KINDS.values()))
    options: dict[str, Any] = {"queue": rng.choice(QUEUES)}
    if options["queue"] == "keyed":
        options["concurrency_key"] = rng.choice("abc")
    if options["queue"] == "roled":
        options["role"] = rng.choice("wx")
    if rng.random() < 0.3:
        options["priority"] = rng.randint(-2, 2)
    if rng.random() < 0.05:
        options["urgent"] = True
    if rng.random() < 0.15:
        options["delay"] = rng.choice((0.0, 0.5, 5.0, 20.0))
    after = sorted({rng.randrange(index) for _ in range(rng.choice((0, 0, 1, 2)))}) if index else []
    if after:
        options["on_dependency_failure"] = rng.choice(("block", "fail"))
    return {
        "kind": task.name,
        "seconds": rng.choice((0.0, 0.0, 0.5, 2.0, 4.0, 8.0)),
        "count": rng.randint(1, 3),
        "options": options,
        "after": after,
        "before": rng.random() < 0.1,
    }
