"""A page of queues and the overview cost the same, however many queues there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import asyncpg
import pytest

from hanbeon.domain.job import LaneName
from hanbeon.domain.lifecycle import State
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations.lanes import add_lanes
from hanbeon.store.operations.overview import read_overview
from hanbeon.store.operations.queues import change_queue, queues_after
from hanbeon.store.operations.tallies import UnfoldedBatches, statistics_of
from hanbeon.store.tx import Tx
from tests.store.job_table import CountedTx, as_tx
from tests.store.sqlite_steps import Steps
from tests.store.world import World, new_job

FEW, MANY, VERY_MANY, PAGE = 40, 1_000, 8_000, 10
TIMES = 1.6
MINUTE_US, HOUR_US = 60_000_000, 3_600_000_000


async def _fill(world: World, first: int, last: int) -> None:
    for begin in range(first, last, MANY):  # A write on SQLite may take so long and no longer.
        await world.enqueue(*[new_job(queue=f"q{n:05}") for n in range(begin, min(begin + MANY, last))])
    while await world.store.number_events() or await world.store.fold():
        pass


async def _page(tx: Tx, after: str, limit: int) -> list[str]:
    found = await queues_after(tx, after, limit)
    names = {each.id: each.name for each in found.items}
    numbers = await statistics_of(tx, names, HOUR_US, UnfoldedBatches())
    assert all(each.states[State.READY] == 1 and each.oldest_ready is not None for each in numbers.values())
    assert found.more
    return list(numbers)


class Statements:
    """A transaction that counts its statements."""

    def __init__(self, tx: Tx) -> None:
        self._tx, self.count = tx, 0

    async def fetch(self, name: str, *values: Any) -> Sequence[Any]:
        self.count += 1
        return await self._tx.fetch(name, *values)


async def test_page_of_queues_has_few_statements(world: World) -> None:
    await _fill(world, 0, FEW)

    async def counted(limit: int) -> int:
        async def read(tx: Tx) -> int:
            statements = Statements(tx)
            await _page(statements, "", limit)  # type: ignore[arg-type]  # it fetches
            return statements.count

        return await world.store.read(read)

    assert await counted(1) == await counted(FEW - 1) < 10


async def test_overview_has_few_statements(world: World) -> None:
    await _fill(world, 0, FEW)
    await world.clock.advance(100)

    async def read(tx: Tx) -> int:
        statements = Statements(tx)
        found = await read_overview(statements, HOUR_US, MINUTE_US, UnfoldedBatches())  # type: ignore[arg-type]
        assert (found.queues, len(found.late), found.oldest_ready_us) == (FEW, FEW, 100_000_000)
        return statements.count

    assert await world.store.read(read) < 10


async def test_page_of_queues_does_not_walk_the_others(world: World) -> None:
    async def cost() -> int:
        if isinstance(world.store.database, PostgresDatabase):
            connection = await asyncpg.connect(world.store.database.url)
            await connection.execute("VACUUM ANALYZE")
            counted = CountedTx(connection)
            assert await _page(as_tx(counted), "q00009", PAGE) == [f"q{n:05}" for n in range(10, 20)]
            await connection.close()
            return counted.blocks
        steps = Steps.of_reader(world.store)
        return await steps.of(world.store.read(lambda tx: _page(tx, "q00009", PAGE)))

    await _fill(world, 0, MANY)
    few = await cost()
    await _fill(world, MANY, VERY_MANY)
    more = await cost()
    assert more <= TIMES * few, f"{few} became {more}"


async def test_new_lanes_do_not_walk_the_others(postgres_world: World) -> None:
    """All tasks and roles are the same, and the planner knows nothing of the tables yet."""

    async def cost(prefix: str) -> int:
        assert isinstance(postgres_world.store.database, PostgresDatabase)
        connection = await asyncpg.connect(postgres_world.store.database.url)
        counted = CountedTx(connection)
        found = await add_lanes(as_tx(counted), [LaneName(f"{prefix}{n}", "t", "", "") for n in range(PAGE)])
        await connection.close()
        assert len(found) == PAGE
        return counted.blocks

    await _fill(postgres_world, 0, FEW)
    few = await cost("few")
    await _fill(postgres_world, FEW, MANY)
    more = await cost("more")
    assert more <= 2 * few, f"{few} became {more}"


async def test_page_of_queues_is_bounded_in_bytes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await _fill(world, 0, 6)
    monkeypatch.setattr("hanbeon.store.operations.pages.PAGE_BYTES", 100)

    async def names(after: str) -> list[str]:
        return [each.name for each in (await world.queue_page(after, 100, HOUR_US)).queues.items]

    roles = {f"role{n}": 1 for n in range(10)}
    for queue in ("q00001", "q00002"):
        await world.store.write(partial(change_queue, name=queue, limits={"roles": roles}, paused=None))
    assert await names("") == ["q00000"]
    assert await names("q00000") == ["q00001"]
    assert await names("q00001") == ["q00002"]
    assert (await names("q00002"))[0] == "q00003"
