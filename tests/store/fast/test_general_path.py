"""The general path defines the behaviour: a part of the conformance suite, on stores without any fast path."""

import inspect
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hanbeon.store.dialect import Postgres, Sqlite
from hanbeon.store.statements import load
from hanbeon.store.tx import Tx
from tests.store.conformance import test_dependencies, test_limits, test_moves, test_order
from tests.store.conftest import opened_world
from tests.store.world import World, new_id, new_job

FAST = Path(inspect.getfile(World)).parents[2] / "src/hanbeon/store/fast"

for _module in (test_dependencies, test_limits, test_moves, test_order):
    for _name, _test in inspect.getmembers(_module, inspect.isfunction):
        if _name.startswith("test_") and "world" in inspect.signature(_test).parameters:
            assert _name not in globals(), _name
            globals()[_name] = _test


@pytest.fixture
async def world(
    request: pytest.FixtureRequest, sqlite_url: str, shared_database: Callable[[str], str]
) -> AsyncIterator[World]:
    url = sqlite_url if request.param == "sqlite" else shared_database(request.param)
    async with opened_world(url, fast=False) as opened:
        yield opened


async def test_no_statement_of_a_fast_path_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would prove nothing: jobs one at a time and in bulk, claimed, and ended."""
    ran: set[str] = set()

    async def noted(tx: Tx) -> type[Tx]:
        return type(tx)

    kind = await world.store.read(noted)
    fetch = kind.fetch

    async def watched(tx: Tx, name: str, *args: object) -> object:
        ran.add(name)
        return await fetch(tx, name, *args)

    monkeypatch.setattr(kind, "fetch", watched)
    job = new_job()
    await world.enqueue(job)
    await world.enqueue(*(new_job(id=new_id()) for _ in range(60)))
    for held in await world.claim(61):
        await world.settle(held)
    dialect = Postgres if world.on_postgres else Sqlite
    assert {"insert_jobs", "claim", "complete"} <= ran
    assert not {name for name in ran if f"-- name: {name}\n" in _texts(dialect.name)}
    assert load(dialect).keys() > ran


def _texts(dialect: str) -> str:
    files = [FAST / "statements.sql", FAST / f"statements.{dialect}.sql"]
    return "".join(file.read_text() for file in files)
