"""A graph of many jobs in one call: in parts on the way, whole in the database, and with the time that it takes."""

from typing import Any

import pytest

from hanbeon.domain.lifecycle import State
from hanbeon.errors import DatabaseUnavailable
from hanbeon.store.database.postgres import PostgresTx
from hanbeon.store.operations.queries import JobFilter, list_jobs
from hanbeon.store.tx import Tx
from tests.store.world import World, new_job


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.operations.enqueue._JOBS_AT_ONCE", 50)
    monkeypatch.setattr("hanbeon.store.operations.enqueue._EDGES_AT_ONCE", 70)
    monkeypatch.setattr("hanbeon.store.operations.events._BATCH_SIZE", 30)


async def test_a_graph_larger_than_its_parts_is_whole(world: World) -> None:
    jobs = [new_job() for _ in range(120)]
    jobs += [new_job(depends_on=[jobs[n + k].id for k in range(4)]) for n in range(115)]
    answers = await world.enqueue(*jobs)
    assert [answer.id for answer in answers] == [job.id for job in jobs]
    rows = await world.rows()
    assert (rows.jobs, rows.edges, rows.event_batches) == (235, 4 * 115, 8)
    assert (await world.counts())[State.PENDING] == 115
    order = [job.id for job in await world.store.read(lambda tx: list_jobs(tx, JobFilter(), 0, 1_000))]
    assert order == [job.id for job in jobs]
    assert [event.job_id for event in await world.events()] == order


async def _limit(tx: Tx) -> Any:
    assert isinstance(tx, PostgresTx)
    return await tx._connection.fetchval("SELECT current_setting('idle_in_transaction_session_timeout')")


async def test_a_large_batch_has_longer_limits_and_others_have_not(postgres_world: World) -> None:
    assert await postgres_world.store.write(_limit, 1_000) == "5s"
    assert await postgres_world.store.write(_limit, 100_000) == "200s"


async def _version(tx: Tx) -> int:
    assert isinstance(tx, PostgresTx)
    major: int = tx._connection.get_server_version().major
    return major


async def _sleep(tx: Tx) -> None:
    assert isinstance(tx, PostgresTx)
    await tx._connection.execute("SELECT pg_sleep(2)")


async def test_a_large_batch_may_take_its_longer_time(postgres_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.database.postgres._LONGEST_SECONDS", 1)
    if await postgres_world.store.read(_version) < 17:
        pytest.skip("before version 17 the server limits no transaction")
    with pytest.raises(DatabaseUnavailable, match="transaction timeout"):
        await postgres_world.store.write(_sleep)
    await postgres_world.store.write(_sleep, 100_000)


async def test_read_transactions_may_idle_for_minutes(postgres_world: World) -> None:
    assert await postgres_world.store.read(_limit) == "10min"
