"""kill -9 at random moments: no job is lost, stuck or run twice, and its rows are written once."""

import random

import pytest

from tests.storm.fleet import fleet, opened
from tests.storm.moments import rows_of
from tests.storm.sizes import SEEDS, TIMEOUT, part, short_on, sized
from tests.storm.workload import Workload

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]


@short_on("postgres")
@pytest.mark.parametrize("seed", SEEDS)
async def test_workers_killed_at_random_lose_and_double_nothing(database_url: str, seed: int, share: float) -> None:
    rng = random.Random(seed)
    async with opened(database_url) as app:
        work = Workload.make(app, rng, part(sized(600, 12_000), share))
        await work.enqueue(app)
        with fleet(database_url) as workers:
            workers.start(3)
            async for _ in work.milestones(app, rng, part(sized(12, 150), share, least=2)):
                workers.replace_one(rng)
            await work.until_done(app)
        await work.assert_done_once(app)
        lost = await rows_of(app.store, "SELECT 1 FROM hanbeon.attempt WHERE status = 'lost'")
        assert lost or share < 1, "no kill hit a job"


@short_on("sqlite")
@pytest.mark.parametrize("seed", SEEDS)
async def test_clean_shutdowns_under_load_lose_no_attempt(database_url: str, seed: int, share: float) -> None:
    rng = random.Random(seed)
    async with opened(database_url) as app:
        work = Workload.make(app, rng, part(sized(400, 6_000), share), {"quick": 6, "nap": 2, "ledger": 1, "parent": 1})
        await work.enqueue(app)
        # A long lease, so that a worker on a busy machine is not mistaken for a dead one.
        with fleet(database_url, settings={"lease": 20.0, "poll": 1.0, "shutdown_grace": 0.0}) as workers:
            workers.start(2)
            async for _ in work.milestones(app, rng, part(sized(6, 60), share, least=2)):
                await workers.roll_one(rng)
            await work.until_done(app)
        await work.assert_done_once(app)
        ends = await rows_of(app.store, "SELECT DISTINCT status FROM hanbeon.attempt")
        assert {row["status"] for row in ends} <= {"completed", "released"}
        assert not await rows_of(app.store, "SELECT seq FROM hanbeon.job WHERE retry_count > 0")
