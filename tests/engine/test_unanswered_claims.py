"""Claims whose answer was lost: their jobs never began, so they are handed back and never taken for lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from hanbeon import App
from hanbeon.clock import MICROS
from hanbeon.domain.lifecycle import AttemptStatus, State
from hanbeon.engine.worker import Worker
from hanbeon.errors import DatabaseUnavailable
from hanbeon.executors.executor import StopCause
from hanbeon.store.operations import queries
from hanbeon.store.operations.queries import attempts_of
from hanbeon.surfaces.verify import verify
from tests.databases.faults import LossyApp, lossy
from tests.databases.proxy import fault_proxy

_PATIENCE = 60.0


def _counting(app: App) -> Callable[[], int]:
    ran = 0

    @app.task(name="once", on_lost="fail", retries=0)
    async def once() -> None:
        nonlocal ran
        ran += 1

    return lambda: ran


async def _lose_a_claim(lossy_app: LossyApp, worker: Worker) -> str:
    """Return the job that the worker is said to run since a claim that it knows nothing of."""
    app, faults, _ = lossy_app
    await worker.register()
    job = await app.enqueue("once")
    faults.after()
    with pytest.raises(DatabaseUnavailable):
        await worker.main.claim.run_once()
    assert faults.struck
    assert (await app.store.job(job.id)).state is State.RUNNING
    return job.id


async def _statuses(app: App, job_id: str) -> list[AttemptStatus]:
    return [each.status for each in await app.store.read(lambda tx: attempts_of(tx, job_id))]


async def test_job_of_a_lost_claim_is_handed_back_and_runs_once(lossy_app: LossyApp) -> None:
    app = lossy_app.app
    ran = _counting(app)
    worker = app.worker()
    job_id = await _lose_a_claim(lossy_app, worker)
    await worker.tick()
    job = await app.store.job(job_id)
    assert (job.state, job.retry_count, ran()) == (State.SUCCEEDED, 0, 1)
    assert await _statuses(app, job_id) == [AttemptStatus.RELEASED, AttemptStatus.COMPLETED]
    assert (await verify(app.store)).sound


async def test_expired_lease_of_a_lost_claim_is_not_a_lost_attempt(database_url: str) -> None:
    """The database was away for longer than the lease: the instance asks before it recovers anything."""
    async with lossy(database_url, lease=1) as lossy_app:
        app = lossy_app.app
        ran = _counting(app)
        worker = app.worker()
        job_id = await _lose_a_claim(lossy_app, worker)
        ends_at = (await app.store.job(job_id)).locked_until or 0
        await asyncio.sleep((ends_at - await app.store.read(queries.now_us)) / MICROS + 0.05)
        assert await app.store.read(queries.now_us) > ends_at
        await worker.recover.run_once()
        assert (await app.store.job(job_id)).state is State.READY
        await worker.tick()
        assert (await app.store.job(job_id)).state is State.SUCCEEDED
        assert ran() == 1


async def test_worker_that_stops_hands_the_job_back(lossy_app: LossyApp) -> None:
    app = lossy_app.app
    _counting(app)
    worker = app.worker()
    job_id = await _lose_a_claim(lossy_app, worker)
    await worker.stop()
    assert (await app.store.job(job_id)).state is State.READY


async def test_work_that_began_is_never_handed_back(lossy_app: LossyApp) -> None:
    """Its end is unknown, so another attempt might be the second one: only recovery may decide."""
    app = lossy_app.app
    began = asyncio.Event()

    @app.task(name="lasting", on_lost="fail")
    async def lasting() -> None:
        began.set()
        await asyncio.Event().wait()

    _counting(app)
    worker = app.worker()
    await worker.register()
    job = await app.enqueue(lasting)
    await worker.start_ready()
    async with asyncio.timeout(_PATIENCE):
        await began.wait()
        await _lose_a_claim(lossy_app, worker)
        await worker.main.claimer.unanswered.settle(at_once=True)
        assert (await app.store.job(job.id)).state is State.RUNNING
        worker.attempts.stop_all(StopCause.LEASE_LOST)
        await worker.settle()
    await worker.main.claimer.unanswered.settle(at_once=True)
    assert (await app.store.job(job.id)).state is State.RUNNING
    await worker.stop()
    assert (await app.store.job(job.id)).state is State.RUNNING


async def test_claim_that_commits_late_is_handed_back(postgres_url: str) -> None:
    """The commit was still under way when the instance asked for the first time."""
    async with fault_proxy(postgres_url) as proxy, App(proxy.url, lease=10) as app:
        ran = _counting(app)
        worker = app.worker()
        await worker.register()
        job = await app.enqueue("once")
        late = proxy.cut_meanwhile()
        with pytest.raises(DatabaseUnavailable):
            await worker.main.claim.run_once()
        assert late.struck.is_set()
        await worker.main.claimer.unanswered.settle(at_once=True)
        assert (await app.store.job(job.id)).state is State.READY
        await late.deliver()
        assert (await app.store.job(job.id)).state is State.RUNNING
        async with worker, asyncio.timeout(_PATIENCE):
            await job.wait()
        assert ran() == 1
        assert await _statuses(app, job.id) == [AttemptStatus.RELEASED, AttemptStatus.COMPLETED]
