"""The monitor costs the same however many runs there are: blocks on PostgreSQL, steps on SQLite."""

from __future__ import annotations

import apsw
import asyncpg
import pytest

from hanbeon import App
from hanbeon.store.dialect import Postgres, Sqlite
from hanbeon.surfaces.store_parts import migrate
from hanbeon.surfaces.workflows.times import LATE_US
from hanbeon.surfaces.workflows.vocabulary import RunEnd, RunKind
from tests.databases.postgres import PostgresServer
from tests.store.job_table import SECOND, CountedTx, fill
from tests.store.sqlite_steps import Steps

FEW, MANY, VERY_MANY = 5_000, 60_000, 500_000
LISTED = 20
TIMES = 3
NOW = 4_000_000_000 * SECOND
"""Later than any clock that this test may run under, so that every ended run is a recent one."""
_RUNS = f"""
INSERT INTO hanbeon.workflow_run (job, run_id, workflow_id, kind, scheduled_time, variables, due_at, ended_at, status,
  retry_count, late, created_at, changed_at)
SELECT j.seq, j.id, '01900000-0000-7000-8000-000000000001', '{RunKind.REGISTERED}', j.seq, '{{{{}}}}',
  CASE j.seq % 2 WHEN 0 THEN j.seq ELSE {NOW} + j.seq END,
  CASE WHEN j.state IN ('succeeded', 'failed', 'cancelled') THEN {NOW} + j.seq END,
  CASE j.state WHEN 'succeeded' THEN '{RunEnd.COMPLETED}' WHEN 'failed' THEN '{RunEnd.FAILED}'
    WHEN 'cancelled' THEN '{RunEnd.CANCELLED}' END,
  0, false, j.seq, j.seq
FROM hanbeon.job AS j WHERE j.seq >= {{first}}
"""
_SIZES = pytest.mark.parametrize("many", [MANY, pytest.param(VERY_MANY, marks=pytest.mark.slow)])


@_SIZES
async def test_postgres_monitor_cost_is_constant(postgres_server: PostgresServer, many: int) -> None:
    costs = []
    with postgres_server.database() as url:
        await migrate(url)
        connection = await asyncpg.connect(url)
        for first, last in (1, FEW), (FEW + 1, many):
            for text in [*fill(Postgres, first, last), _RUNS.format(first=first)]:
                await connection.execute(text, timeout=600)
            await connection.execute("VACUUM ANALYZE", timeout=600)
            tx = CountedTx(connection)
            assert len(await tx.fetch("delayed_workflow_runs", LATE_US, LISTED)) == LISTED
            assert len(await tx.fetch("next_workflow_runs", LISTED)) == LISTED
            assert len(await tx.fetch("failed_workflow_runs", 0, LISTED)) == LISTED
            costs.append(tx)
        await connection.close()
    few, more = costs
    assert more.blocks <= TIMES * few.blocks, "\n".join([*few.plans, "became", *more.plans])


@_SIZES
async def test_sqlite_monitor_cost_is_constant(sqlite_url: str, many: int) -> None:
    costs = []
    for first, last in (1, FEW), (FEW + 1, many):
        connection = apsw.Connection(sqlite_url.removeprefix("sqlite:///"))
        with connection:
            for text in [*fill(Sqlite, first, last), _RUNS.format(first=first).replace("hanbeon.", "hanbeon_")]:
                connection.execute(text)
        connection.close()
        async with App(sqlite_url) as app:
            costs.append(await Steps.of_reader(app.store).of(app.workflows.monitor()))
            found = await app.workflows.monitor()
            assert {len(found.delayed), len(found.next), len(found.recent_failures)} == {LISTED}
    few, more = costs
    assert more <= TIMES * few, f"{few} steps became {more}"
