"""Stream jobs end once and rightly, whatever happens to messages, workers and Redis."""

from __future__ import annotations

import pytest

from hanbeon import App
from hanbeon.service.verify import audit_database
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.fault_run import STREAM, TASK, FaultRun


async def disturbed(url: str, valkey: ValkeyServer, seed: int, jobs: int, wipes: int = 1) -> None:
    async with App(url, redis_url=valkey.url, stop_grace=1) as app:
        app.stream(TASK, STREAM, retries=2, retry_delay=0, timeout=600)
        async with app.worker():
            run = FaultRun(app, valkey, seed, jobs)
            await run.run(wipes=wipes)
            await run.check()
        report = await audit_database(app.store, ())
        assert not report.findings


async def test_faults_lose_and_double_nothing(database_url: str, valkey: ValkeyServer) -> None:
    await disturbed(database_url, valkey, seed=7, jobs=30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_faults_at_length(database_url: str, valkey: ValkeyServer, seed: int) -> None:
    await disturbed(database_url, valkey, seed=seed, jobs=300, wipes=3)
