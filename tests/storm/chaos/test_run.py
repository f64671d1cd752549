"""A short run of faults: nothing is lost, nothing doubled, and the audit is clean after each phase."""

from __future__ import annotations

from pathlib import Path

import pytest

from hanbeon.surfaces.store_parts import migrate
from tests.databases.postgres import PostgresServer
from tests.databases.valkey import ValkeyServer
from tests.guarantees import guarantee
from tests.storm.chaos.phases import PHASES, Phase, phases_for
from tests.storm.chaos.run import Result, run
from tests.storm.chaos.site import site_on
from tests.storm.sizes import SEEDS, TIMEOUT

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]
_FEW = ["kill", "terminate", "burst"]
_MANY = ["kills", "crash", "redis", "starvation", "locked"]


async def _sound(
    url: str, valkey: ValkeyServer, folder: Path, phases: list[Phase], jobs: int, postgres: PostgresServer | None = None
) -> list[Result]:
    found: list[Result] = []
    async with site_on(url, valkey, folder, SEEDS[0], postgres=postgres) as site:
        async for result in run(site, phases, jobs):
            found.append(result)
            with guarantee():
                assert (result.lost, result.doubled, result.findings) == ([], [], []), result.phase
                assert result.jobs >= jobs
            assert result.faults
    return found


@pytest.mark.short
async def test_a_few_faults_lose_and_double_nothing(postgres_url: str, valkey: ValkeyServer, tmp_path: Path) -> None:
    await _sound(postgres_url, valkey, tmp_path, phases_for("postgres", _FEW, private=False), 100)


@pytest.mark.slow
async def test_many_faults_on_sqlite_lose_nothing(sqlite_url: str, valkey: ValkeyServer, tmp_path: Path) -> None:
    await _sound(sqlite_url, valkey, tmp_path, phases_for("sqlite", _MANY), 500)


@pytest.mark.slow
async def test_many_faults_on_postgres_lose_nothing(
    private_postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path
) -> None:
    url = private_postgres.create_database()
    await migrate(url)
    phases = phases_for("postgres", _MANY)
    await _sound(url, valkey, tmp_path, phases, 500, private_postgres)


def test_every_phase_can_run_and_unknown_ones_are_named() -> None:
    assert {each.name for store in ("postgres", "sqlite") for each in phases_for(store)} <= PHASES.keys()
    assert all(each.summary for each in PHASES.values())
    with pytest.raises(ValueError, match="there is no phase nonsense; there are kill, kills"):
        phases_for("sqlite", ["nonsense"])
