"""Query plans: every statement can be prepared, and no hot one walks a table, whatever the statistics say."""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import asyncpg
import msgspec
import pytest

from hanbeon.clock import SystemClock
from hanbeon.domain.lifecycle import State
from hanbeon.store.backends import open_store
from hanbeon.store.batch_cancel import cancel_where
from hanbeon.store.database import postgres
from hanbeon.store.database.sqlite import SqliteUserTransaction
from hanbeon.store.dialect import Dialect, Postgres, Sqlite
from hanbeon.store.operations.cancel import CancelFilter
from hanbeon.store.operations.queries import JobFilter, list_jobs
from hanbeon.store.operations.tallies import counts, statistics
from hanbeon.store.statements import names, statement
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import migrate
from hanbeon.testing.clock import VirtualClock
from tests.databases.postgres import PostgresServer
from tests.store.sqlite_steps import Steps
from tests.store.world import new_job

# Who looks at everything on purpose.
WALKS = {name: "the audit reads all there is" for name in names(Postgres) if name.startswith("audit_")} | {
    "declared_schedules": "a worker that starts looks for declarations that are gone",
    "schedule_counts": "counts entries of two indexes, for whoever asks for the numbers",
    "held_by": "an instance that got no answer to a claim looks at all that runs, which is never much",
    "totals": "adds up rows that are gathered when they are many",
    "take_totals": "gathers them",
    "grant_time": "extends the leases of all that runs",
    "short_leases": "looks for one among all that runs",
    "expire_leases": "ends the leases of all that runs",
    "lock_incarnation": "locks a table of one row, which has no plan",
}
BIG = {
    *("job", "job_id", "edge", "unmet", "event_batch", "queue_batch", "past_attempt", "log", "timing"),
    *("schedule", "fire", "execution", "total"),
}
# Indexes that hold only what waits to be done, and so may be walked from their beginning, up to a limit.
SHORT = {
    *("hanbeon_job_due", "hanbeon_job_recount", "hanbeon_event_unnumbered", "hanbeon_job_finished"),
    "hanbeon_job_dispatched",
    *("hanbeon_schedule_due", "hanbeon_schedule_waiting", "hanbeon_fire_recorded"),
}

FILL = """
INSERT INTO hanbeon.queue (name, created_at, changed_at) SELECT 'q' || n, 1, 1 FROM generate_series(1, 10) AS n;
INSERT INTO hanbeon.lane (queue_id, task, used_at) SELECT id, 't', 0 FROM hanbeon.queue;
INSERT INTO hanbeon.job (id, lane, state, urgent, priority, rank, run_at, created_at, finished_at,
  on_dependency_failure, policy, args, digest, idempotency_key, unique_key, work_item)
SELECT gen_random_uuid(), (l.queue_id << 32) | l.n, CASE WHEN s.n > 20000 THEN 'ready' ELSE 'succeeded' END, false, 0,
  0, s.n, s.n, CASE WHEN s.n > 20000 THEN NULL ELSE s.n END, 'block', '{}', '{}', '', 'i' || s.n,
  'u' || s.n, 'w' || s.n % 1000
FROM generate_series(1, 40000) AS s(n) JOIN hanbeon.lane AS l ON l.n = 1 + s.n % 10
ORDER BY s.n;
INSERT INTO hanbeon.job_id (id, seq) SELECT id, seq FROM hanbeon.job;
INSERT INTO hanbeon.edge (dependency, dependent) SELECT n, n + 20000 FROM generate_series(1, 20000) AS n;
INSERT INTO hanbeon.past_attempt (job, attempt, status, started_at, ended_at)
SELECT n, 1, 'completed', 1, 2 FROM generate_series(1, 20000) AS n;
INSERT INTO hanbeon.log (job, attempt, n, first_line, lines, body)
SELECT n, 1, 1, 1, 1, '[]' FROM generate_series(1, 20000) AS n;
INSERT INTO hanbeon.event_batch (at, count, first_id, body)
SELECT n, 1, CASE WHEN n <= 20000 THEN n END, '[]' FROM generate_series(1, 20010) AS n;
INSERT INTO hanbeon.queue_batch (queue_id, first_id) SELECT 1 + n % 10, n FROM generate_series(1, 20000) AS n;
"""


FILL_SCHEDULES = """
INSERT INTO hanbeon.task (name, settings, registered_by, first_registered_at, registered_at)
SELECT 't' || n, '{}', 'x', 1, 1 FROM generate_series(1, 100) AS n;
INSERT INTO hanbeon.schedule (id, name, task_id, definition, paused, considered_to, timed_since, next_fire_at, due_at,
  last_fire_at, waiting, created_by, created_at, changed_at)
SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid), 's' || n, 1 + n % 100, '{}', n % 1000 = 0, 1, 1, n, n,
  n, CASE WHEN n % 1000 = 1 THEN '[1]' END, 'x', 1, 1
FROM generate_series(1, 20000) AS n;
INSERT INTO hanbeon.fire (schedule_id, fire_at, outcome, recorded_at)
SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid), f, 'created', f
FROM generate_series(1, 20000) AS n, generate_series(1, 3) AS f;
-- Executions among the jobs: one in a hundred still waits, some for their next try.
INSERT INTO hanbeon.job (id, lane, state, urgent, priority, rank, run_at, created_at, finished_at,
  on_dependency_failure, policy, args, digest, unique_key)
SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid), (1::bigint << 32) | 1,
  CASE n % 200 WHEN 0 THEN 'ready' WHEN 100 THEN 'pending' WHEN 1 THEN 'failed' ELSE 'succeeded' END, false, 0, 0,
  n, n,
  CASE WHEN n % 100 = 0 THEN NULL ELSE n END, 'block', '{}', '{}', '',
  'hanbeon:execution/' || 1 + n % 100 || '/' || n
FROM generate_series(1, 20000) AS n;
INSERT INTO hanbeon.job_id (id, seq) SELECT id, seq FROM hanbeon.job WHERE unique_key LIKE 'hanbeon:%';
INSERT INTO hanbeon.execution (job, task_id, type, schedule_id, scheduled_at)
SELECT seq, 1 + seq % 100, CASE WHEN seq % 1000 = 0 THEN 'MANUAL' ELSE 'SCHEDULE' END, id, run_at
FROM hanbeon.job WHERE unique_key LIKE 'hanbeon:%';
"""
_NOTHING = "00000000-0000-0000-0000-000000000000"
_SCHEDULE = "00000000-0000-0000-0000-000000000007"
_TASK_KEYS = '[{"id": 7, "low": "hanbeon:execution/7/", "high": "hanbeon:execution/70"}]'


def _guarded(dialect: Dialect) -> list[str]:
    return [name for name in names(dialect) if name not in WALKS]


def _parameters(sql: str, sign: str) -> int:
    return max((int(number) for number in re.findall(rf"\{sign}(\d+)", sql)), default=0)


@pytest.fixture(scope="module")
def plans_url(postgres_server: PostgresServer) -> Iterator[str]:
    with postgres_server.database() as url:
        yield url


@pytest.fixture
async def postgres_connection(plans_url: str) -> AsyncIterator[Any]:
    """A connection with the engine's settings, to a database with the schema and whatever a test before put in."""
    await migrate(plans_url)
    connection = await asyncpg.connect(plans_url)
    yield connection
    await connection.close()


@pytest.fixture
async def explain_sqlite(sqlite_url: str) -> AsyncIterator[Callable[[str], list[str]]]:
    store = open_store(sqlite_url, SystemClock())
    await store.open()
    transaction = await store.begin()
    assert isinstance(transaction, SqliteUserTransaction)
    database = transaction.connection

    def explain(sql: str) -> list[str]:
        rows = database.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * _parameters(sql, "?"))
        return [str(row[3]) for row in rows]

    yield explain
    await transaction.abandon()
    await store.close()


async def test_search_of_queues_reads_names_in_their_index(
    explain_sqlite: Callable[[str], list[str]], postgres_url: str
) -> None:
    plan = explain_sqlite(statement("queues_named_like", Sqlite))
    assert any("SEARCH n USING COVERING INDEX" in line for line in plan), plan
    await migrate(postgres_url)
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute(
            "INSERT INTO hanbeon.queue (name, limits, created_at, changed_at) "
            "SELECT 'z' || n, repeat('x', 200), 1, 1 FROM generate_series(1, 5000) AS n"
        )
        await connection.execute("ANALYZE hanbeon.queue")
        await connection.execute(f"PREPARE search (text, text, bigint) AS {statement('queues_named_like', Postgres)}")
        rows = await connection.fetch("EXPLAIN EXECUTE search('', 'mail', 100)")
    finally:
        await connection.close()
    plan = [row[0] for row in rows]
    assert any("Index Only Scan" in line for line in plan), plan


async def test_every_statement_can_be_prepared_on_postgresql(postgres_connection: Any) -> None:
    for name in names(Postgres):
        prepared = await postgres_connection.prepare(statement(name, Postgres))
        assert len(prepared.get_parameters()) == _parameters(statement(name, Postgres), "$"), name


async def test_every_statement_can_be_prepared_on_sqlite(explain_sqlite: Callable[[str], list[str]]) -> None:
    for name in names(Sqlite):
        explain_sqlite(statement(name, Sqlite))


async def test_no_hot_statement_walks_a_table_on_postgresql(postgres_connection: Any) -> None:
    """Empty and unknown to the planner, filled and still unknown, filled and analysed: always by index."""
    found = await _walks_on_postgres(postgres_connection, "empty")
    await postgres_connection.execute(FILL)
    found += await _walks_on_postgres(postgres_connection, "filled")
    await postgres_connection.execute("ANALYZE")
    found += await _walks_on_postgres(postgres_connection, "analysed")
    await postgres_connection.execute(FILL_SCHEDULES)
    found += await _walks_on_postgres(postgres_connection, "filled with schedules")
    await postgres_connection.execute("ANALYZE")
    found += await _walks_on_postgres(postgres_connection, "analysed with schedules")
    assert not found, "\n".join(found)
    await _few_rows_tell_the_numbers(postgres_connection)


async def _few_rows_tell_the_numbers(connection: Any) -> None:
    """Of 40,000 jobs, half of them ready in ten lanes, 20,000 batches of events, 20,000 schedules and executions."""
    await connection.execute("UPDATE hanbeon.fold SET folded_to = 20000")
    for name, arguments in {
        "tallies": "0, 1000",
        "unfolded": "",
        "tally_totals": "",
        "tallies_of_queues": "'[1, 2, 3]'",
        "timings_of_queues": "'[1, 2, 3]', 0",
        "last_change": "",
        "timings_of_all": "0",
        "oldest_ready": f"""'[{{"low": 0, "high": {2**62}}}]', 1000""",
        "next_fire": "",
        "start_lag": "10",
        "list_jobs": "0, NULL, NULL, NULL, NULL, NULL, 10",
        "list_jobs_newest": f"{2**62}, NULL, NULL, NULL, NULL, NULL, 10",
        "unfinished_executions": f"'{_TASK_KEYS}'",
        "executions": f"{2**62}, 10, NULL, NULL",
        "executions_in_state": f"{2**62}, 10, 'failed', NULL, NULL, NULL",
        "executions_of_task": f"{2**62}, 10, NULL, NULL, 7",
        "executions_of_schedule": f"{2**62}, 10, NULL, NULL, NULL, '{_SCHEDULE}'",
        "executions_manual": f"{2**62}, 10, NULL",
        "fires_of": f"'{_SCHEDULE}', {2**62}, NULL, 10",
        "schedules": f"'{_SCHEDULE}', 10, NULL",
        "schedules_paused": f"'{_NOTHING}', 10",
        "schedules_of_task": f"'{_NOTHING}', 10, NULL, 't7'",
        "schedule_of_name": f"'{_NOTHING}', 10, NULL, NULL, 's7'",
        "schedule_by_id": f"'{_SCHEDULE}'",
        "waiting_schedules": f"10, '{_NOTHING}'",
        "due_schedules": "10",
        "events_of_queue": "'q3', 10000, 10",
        "events_after": "10000, 10",
        "event_bodies": "'[10000, 10001, 10002]'",
        "group_bodies": "'[10000, 10001, 10002]'",
        "schedules_by_id": f"'[\"{_SCHEDULE}\"]'",
        "jobs_listed": "'[1, 2, 3]'",
        "job_nodes": "'[1, 2, 3]'",
        "job_sizes": "'[1, 2, 3]'",
    }.items():
        async with connection.transaction():
            await connection.execute(postgres._PLANS)
            await connection.execute(f"PREPARE counted AS {statement(name, Postgres)}")
            call = f"counted({arguments})" if arguments else "counted"
            text = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE {call}")
            await connection.execute("DEALLOCATE counted")
        rows = sum(_rows_read(msgspec.json.decode(text)[0]["Plan"]))
        assert rows < 100, f"{name} reads {rows} rows"


def _rows_read(plan: dict[str, Any]) -> Iterator[int]:
    if plan.get("Relation Name") in BIG:
        yield round((plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"])
    for below in plan.get("Plans", ()):
        yield from _rows_read(below)


async def _walks_on_postgres(connection: Any, when: str) -> list[str]:
    found = []
    for name in _guarded(Postgres):
        sql = statement(name, Postgres)
        async with connection.transaction():
            await connection.execute(postgres._PLANS)
            await connection.execute(f"PREPARE checked AS {sql}")
            nothing = ", ".join(["NULL"] * _parameters(sql, "$"))
            call = f"checked({nothing})" if nothing else "checked"
            text = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE {call}")
            await connection.execute("DEALLOCATE checked")
        found += [f"{when}: {name}: {walk}" for walk in _walks(msgspec.json.decode(text)[0]["Plan"])]
    return found


def _walks(plan: dict[str, Any], partner: str | None = None) -> Iterator[str]:
    """The nodes that read a big table without a condition on an index."""
    kind, table, index = plan["Node Type"], plan.get("Relation Name", partner), plan.get("Index Name")
    if kind == "Bitmap Heap Scan":
        partner = table
    if kind == "Seq Scan" and table in BIG:
        yield f"Seq Scan on {table}"
    by_index = kind in ("Index Scan", "Index Only Scan", "Bitmap Index Scan")
    if by_index and table in BIG and "Index Cond" not in plan and index not in SHORT:
        yield f"{kind} of the whole {index} of {table}"
    for below in plan.get("Plans", ()):
        yield from _walks(below, partner)


async def test_no_hot_statement_walks_a_table_on_sqlite(explain_sqlite: Callable[[str], list[str]]) -> None:
    found = []
    for name in _guarded(Sqlite):
        sql = statement(name, Sqlite)
        # What the view `jobs` names inside is not in the statement's text.
        tables = {"j": "job"} | {alias: table for table, alias in re.findall(r"hanbeon_(\w+) AS (\w+)", sql)}
        tables |= {f"hanbeon_{table}": table for table in BIG}
        for step in explain_sqlite(sql):
            scan = re.match(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?", step)
            if scan and tables.get(scan[1]) in BIG and scan[2] not in SHORT:
                found.append(f"{name}: {step}")
    assert not found, "\n".join(found)


@pytest.fixture
async def sqlite_store(sqlite_url: str) -> AsyncIterator[Store]:
    store = open_store(sqlite_url, VirtualClock())
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def steps(sqlite_store: Store) -> Steps:
    """Of what is read in that store."""
    return Steps.of_reader(sqlite_store)


@pytest.mark.parametrize("newest", [False, True])
async def test_sqlite_job_pages_have_constant_cost(sqlite_store: Store, steps: Steps, newest: bool) -> None:
    async def page() -> None:
        assert len(await sqlite_store.read(lambda tx: list_jobs(tx, JobFilter(newest=newest), 0, 10))) == 10

    await sqlite_store.enqueue([new_job() for _ in range(20)])
    few = await steps.of(page())
    await sqlite_store.enqueue([new_job() for _ in range(2_000)])
    assert 0 < await steps.of(page()) <= few * 1.2


@pytest.mark.parametrize("newest", [False, True])
async def test_sqlite_few_unfinished_jobs_have_constant_cost(sqlite_store: Store, steps: Steps, newest: bool) -> None:
    filter = JobFilter(states=(State.PENDING,), newest=newest)

    async def page() -> None:
        assert len(await sqlite_store.read(lambda tx: list_jobs(tx, filter, 0, 10))) == 5

    async def end(count: int) -> None:
        await sqlite_store.enqueue([new_job() for _ in range(count)])
        await cancel_where(sqlite_store, CancelFilter(states=(State.READY,)))
        while await sqlite_store.number_events() or await sqlite_store.fold():
            pass

    await sqlite_store.enqueue([new_job(delay_us=10**12) for _ in range(5)])
    await end(20)
    few = await steps.of(page())
    await end(2_000)
    assert 0 < await steps.of(page()) <= few * 1.2


async def test_sqlite_counts_have_constant_cost(sqlite_store: Store, steps: Steps) -> None:
    async def cost() -> int:
        while await sqlite_store.fold():
            pass
        return await steps.of(
            sqlite_store.read(lambda tx: counts(tx, "default", sqlite_store.unfolded)),
            sqlite_store.read(lambda tx: statistics(tx, "default", 3_600_000_000, sqlite_store.unfolded)),
        )

    await sqlite_store.enqueue([new_job(priority=n % 3) for n in range(30)])
    few = await cost()
    for _ in range(10):
        await sqlite_store.enqueue([new_job(priority=n % 3) for n in range(300)])
    assert 0 < await cost() <= few * 1.2
