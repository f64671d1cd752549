"""Instances are killed and added while definitions change: each fire is decided once, by the definition in force."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.storm.fleet import QUICK, Fleet, WorkerProcess, fleet
from tests.storm.journal import Journal
from tests.storm.moments import rows_of, until
from tests.storm.schedules.storm import Storm, assert_fits, storm, worker_options
from tests.storm.sizes import LONG, SEEDS, TIMEOUT, part, short_on, sized

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]

# The grace is so short that a killed instance makes others late, which brings the misfire policies into play.
SETTINGS = QUICK | {"misfire_grace": 1.0}
INSTANCES = {"postgres": 4, "sqlite": 2}
SECONDS = sized(8, 120)
BETWEEN_KILLS = sized(2, 4)
_BUSY = """
SELECT DISTINCT i.pid AS pid FROM hanbeon.job AS j JOIN hanbeon.instance AS i ON i.id = j.instance
WHERE j.state = 'running'
"""


@short_on("postgres")
@pytest.mark.parametrize("seed", SEEDS)
async def test_every_fire_happens_once_and_as_was_in_force(
    database_url: str, seed: int, share: float, journal: Journal
) -> None:
    rng = random.Random(seed)
    sqlite = database_url.startswith("sqlite:")
    schedules = part(sized(20, 60) if sqlite else sized(40, 500), share, least=8)
    seconds = part(SECONDS, share, least=2 * BETWEEN_KILLS)
    kinds = {"alone": schedules * 3 // 4, "crowds": max(1, schedules // 20)}
    async with storm(database_url, journal, rng, **kinds) as run:
        with fleet(database_url, **worker_options(SETTINGS, **kinds)) as workers:
            workers.start(INSTANCES["sqlite" if sqlite else "postgres"] if share == 1 else 2)
            await workers.ready()
            await run.begin(schedules)

            async def kill() -> None:
                for _ in range(int(seconds // BETWEEN_KILLS)):
                    await asyncio.sleep(BETWEEN_KILLS)
                    workers.kill(await _busy_one(run, workers, rng))
                    workers.start()

            await asyncio.gather(run.act_for(seconds, pause=0.05 if LONG else 0.02), kill())
            await run.act_until_all_was_done(("change_times", "change_the_rest", "pause", "resume", "delete", "run"))
            judgement = await run.end(TIMEOUT)
        assert_fits(judgement, run.shared)
        if share == 1:
            _assert_it_was_a_storm(run, judgement.outcomes, judgement.attempts)


async def _busy_one(run: Storm, workers: Fleet, rng: random.Random) -> WorkerProcess:
    """Return a worker that is running something now; most executions that are seen running take a second."""

    async def ask() -> WorkerProcess | None:
        busy = {row["pid"] for row in await rows_of(run.app.store, _BUSY)}
        found = [each for each in workers.at_work if each.pid in busy]
        return rng.choice(found) if found else None

    return await until("a worker runs something", ask)


def _assert_it_was_a_storm(run: Storm, outcomes: dict[str, int], attempts: dict[str, int]) -> None:
    """Check that every kind of outcome occurred; otherwise the run proves nothing."""
    summary = f"{outcomes}, {attempts}, {run.shared.done}"
    assert outcomes["created"] > 20, summary
    assert outcomes["skipped overlap"], summary
    assert any(outcomes[f"missed {reason}"] for reason in ("changed", "paused", "deleted")), summary
    assert attempts["lost"], f"no kill hit an execution: {summary}"
