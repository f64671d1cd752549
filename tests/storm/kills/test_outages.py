"""The database goes away under the workers: they come back to it by themselves, and nothing is done twice."""

import asyncio
import random

import pytest

from hanbeon.domain.lifecycle import State
from tests.databases.postgres import PostgresServer
from tests.storm.fleet import QUICK, fleet, opened
from tests.storm.moments import direct, enqueue, until, until_state
from tests.storm.sizes import SEEDS, TIMEOUT, both_sizes, part, sized
from tests.storm.workload import Workload

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]

# Rows and children are what a lost connection could double or lose, so most jobs have some.
_KINDS = {"quick": 2, "ledger": 4, "ledger_threaded": 1, "parent": 2, "ledger_parent": 2, "dependent": 1}
_WORKER = "chaos worker"


def _as_worker(url: str) -> str:
    """Return a URL that lets the server tell the workers' connections from the test's."""
    return f"{url}?application_name={_WORKER.replace(' ', '%20')}"


@both_sizes
@pytest.mark.parametrize("seed", SEEDS)
async def test_terminated_backends_cost_retries_and_nothing_else(postgres_url: str, seed: int, share: float) -> None:
    rng = random.Random(seed)
    async with opened(postgres_url) as app:
        work = Workload.make(app, rng, part(sized(500, 5_000), share), _KINDS)
        await work.enqueue(app)
        with fleet(_as_worker(postgres_url)) as workers:
            workers.start(2)
            await workers.ready()  # A worker that cannot reach its database at startup exits with an error.
            async for _ in work.milestones(app, rng, part(sized(25, 300), share, least=4)):
                await _terminate_some(postgres_url, rng)
            await work.until_done(app)
        await work.assert_done_once(app)


@both_sizes
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_crashed_server_loses_and_doubles_nothing(
    private_postgres: PostgresServer, seed: int, share: float
) -> None:
    rng = random.Random(seed)
    url = private_postgres.create_database()
    async with opened(url) as app:
        work = Workload.make(app, rng, part(sized(500, 5_000), share), _KINDS)
        await work.enqueue(app)
        with fleet(url) as workers:
            workers.start(2)
            await workers.ready()  # A worker that cannot reach its database at startup exits with an error.
            async for _ in work.milestones(app, rng, part(sized(3, 20), share)):
                await asyncio.to_thread(private_postgres.restart, graceful=False)
            await work.until_done(app)
        await work.assert_done_once(app)


async def test_wake_ups_work_again_after_the_listening_connection_died(postgres_url: str) -> None:
    async with opened(postgres_url) as app:
        # The poll is so rare that only a wake-up explains a job that is done soon.
        with fleet(_as_worker(postgres_url), settings=QUICK | {"poll": 600.0}) as workers:
            workers.start()
            await workers.ready()
            first = await until("the worker listens", lambda: _listener(postgres_url))
            async with direct(postgres_url) as connection:
                assert await connection.fetchval("SELECT pg_terminate_backend($1, 10000)", first)
            await until("the worker listens again", lambda: _listener(postgres_url, other_than=first))
            await until_state(app, await enqueue(app, "quick"), State.SUCCEEDED)


_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"


async def _terminate_some(url: str, rng: random.Random) -> None:
    async with direct(url) as connection:
        pids = sorted(row["pid"] for row in await connection.fetch(_BACKENDS, _WORKER))
        for pid in rng.sample(pids, k=min(len(pids), rng.randint(1, 3))):
            await connection.execute("SELECT pg_terminate_backend($1)", pid)


async def _listener(url: str, other_than: int = 0) -> int | None:
    async with direct(url) as connection:
        pid: int | None = await connection.fetchval(
            f"{_BACKENDS} AND query LIKE 'LISTEN%' AND pid <> $2", _WORKER, other_than
        )
    return pid
