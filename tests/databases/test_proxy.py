"""The fault proxy does to a connection what its name says, and nothing to the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.databases.proxy import FaultProxy, Way, fault_proxy

_PATIENCE = 30.0
_INSERT = "INSERT INTO kept VALUES ($1)"
_GONE = (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError)


@pytest.fixture
async def proxy(empty_postgres_url: str) -> AsyncIterator[FaultProxy]:
    async with fault_proxy(empty_postgres_url) as proxy:
        yield proxy


async def test_cuts_around_the_nth_commit(proxy: FaultProxy) -> None:
    await _run(proxy, "CREATE TABLE kept (number int)")
    for number, cut in enumerate([proxy.cut_before, proxy.cut_after]):
        fault = cut(nth=2)
        await _insert(proxy, 10 * number)
        with pytest.raises(_GONE):
            await _insert(proxy, 10 * number + 1)
        assert fault.struck.is_set()
        await _insert(proxy, 10 * number + 2)
    assert await _kept(proxy) == [0, 2, 10, 11, 12]


async def test_statement_outside_a_transaction_is_a_commit(proxy: FaultProxy) -> None:
    await _run(proxy, "CREATE TABLE kept (number int)")
    connection = await asyncpg.connect(proxy.url)
    statement = await connection.prepare(_INSERT)
    await statement.fetch(1)
    proxy.cut_after()
    assert await connection.fetch("SELECT 1")
    with pytest.raises(_GONE):
        await statement.fetch(2)
    assert await _kept(proxy) == [1, 2]


async def test_one_direction_is_silent_until_it_is_healed(proxy: FaultProxy) -> None:
    await _run(proxy, "CREATE TABLE kept (number int)")
    connection = await asyncpg.connect(proxy.url)
    proxy.silence(Way.TO_CLIENT)
    asked = asyncio.create_task(connection.execute("INSERT INTO kept VALUES (1)"))
    proxy.delay = 0.01
    assert not (await asyncio.wait([asked], timeout=0.2))[0]
    proxy.heal()
    async with asyncio.timeout(_PATIENCE):
        await asked
        await connection.close()
    assert await _kept(proxy) == [1]


async def test_stranded_connection_stays_half_open(proxy: FaultProxy) -> None:
    connection = await asyncpg.connect(proxy.url)
    proxy.strand()
    asked = asyncio.create_task(connection.fetchval("SELECT 1"))
    assert not (await asyncio.wait([asked], timeout=0.2))[0]
    await _run(proxy, "SELECT 1")
    proxy.cut()
    with pytest.raises(_GONE):
        async with asyncio.timeout(_PATIENCE):
            await asked


async def _insert(proxy: FaultProxy, number: int) -> None:
    connection = await asyncpg.connect(proxy.url)
    try:
        async with connection.transaction(readonly=True):
            await connection.fetch("SELECT 1")
        await connection.execute("BEGIN")
        await connection.execute(_INSERT, number)
        await connection.execute("COMMIT")
    finally:
        connection.terminate()


async def _run(proxy: FaultProxy, sql: str) -> None:
    connection = await asyncpg.connect(proxy.url)
    await connection.execute(sql)
    await connection.close()


async def _kept(proxy: FaultProxy) -> list[int]:
    connection = await asyncpg.connect(proxy.url)
    try:
        return [row[0] for row in await connection.fetch("SELECT number FROM kept ORDER BY number")]
    finally:
        await connection.close()
