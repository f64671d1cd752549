"""The views for readers are cheap: a condition on an id, an office, a task or a status reads little of a big table."""

import re
from collections.abc import Iterator
from typing import Any

import apsw
import asyncpg
import msgspec
import pytest

from hanbeon.store.dialect import Dialect, Postgres, Sqlite, translate
from hanbeon.surfaces.store_parts import migrate

# 150 offices with 1,000 jobs each, most of them done; 50,000 executions of 50 tasks, of 20,000 schedules; 50,000 more.
FILL = """
INSERT INTO hanbeon.queue (name, created_at, changed_at) VALUES ('default', 1, 1);
INSERT INTO hanbeon.office (id, name, config, sessions, created_at, changed_at)
WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 150)
SELECT #id(n), 'an office', '{}', '{}', 1, 1 FROM s;
INSERT INTO hanbeon.queue (name, created_at, changed_at)
SELECT 'office:' || CAST(o.id AS text), 1, 1 FROM hanbeon.office AS o ORDER BY o.id;
INSERT INTO hanbeon.lane (queue_id, task, role, used_at)
SELECT q.id, 't', 'QA', 0 FROM hanbeon.queue AS q ORDER BY q.id;
INSERT INTO hanbeon.instance (id, name, host, pid, version, tasks, schedules, capacity, started_at, seen_at)
VALUES (1, 'i', 'h', 1, '1', '[]', '[]', 1, 1, 1);
INSERT INTO hanbeon.task (name, settings, registered_by, first_registered_at, registered_at)
WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 50)
SELECT 't' || n, '{}', 'x', 1, 1 FROM s ORDER BY n;
INSERT INTO hanbeon.schedule (id, name, task_id, definition, paused, considered_to, timed_since, created_by, created_at,
  changed_at)
WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 20000)
SELECT #id(n), 's' || n, 1 + n % 50, '{"timing": {"timezone": "UTC", "cron": "0 9 * * *"}}', n % 1000 = 0, 1, 1, 'x',
  1, 1
FROM s;
INSERT INTO hanbeon.job (id, lane, state, urgent, priority, rank, run_at, created_at, started_at, deadline_at,
  finished_at, on_dependency_failure, policy, args, digest, meta, unique_key, fence, instance, locked_until,
  attempt_status)
WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 250000),
job AS (
  SELECT s.n, CASE WHEN s.n <= 150000 THEN 2 + s.n % 150 ELSE 1 END AS lane,
    CASE CASE WHEN s.n <= 150000 THEN s.n / 150 ELSE s.n END % 1000
      WHEN 0 THEN 'pending' WHEN 1 THEN 'ready' WHEN 2 THEN 'running' WHEN 3 THEN 'failed'
      WHEN 4 THEN 'cancelled' ELSE 'succeeded' END AS state
  FROM s
)
SELECT #id(n), (CAST(lane AS bigint) << 32) | lane, state, false, 0, 0, n, n, n, 2,
  CASE WHEN state IN (@terminal_states) THEN n END, 'block', '{}', '{}', '',
  CASE WHEN n <= 150000 THEN '{"key": "k"}' END,
  CASE WHEN n > 200000 THEN 'hanbeon:execution/' || (1 + n % 50) || '/' || n END, 1,
  CASE WHEN state = 'running' THEN 1 END, CASE WHEN state = 'running' THEN 1 END,
  CASE state WHEN 'failed' THEN 'timeout' WHEN 'cancelled' THEN 'cancelled' WHEN 'succeeded' THEN 'completed' END
FROM job ORDER BY n;
INSERT INTO hanbeon.execution (job, task_id, type, schedule_id, scheduled_at)
SELECT seq, 1 + seq % 50, CASE WHEN seq % 1000 = 0 THEN 'MANUAL' ELSE 'SCHEDULE' END,
  CASE WHEN seq % 1000 <> 0 THEN #id(1 + seq % 20000) END, 1
FROM hanbeon.job WHERE unique_key IS NOT NULL;
INSERT INTO hanbeon.past_attempt (job, attempt, status, started_at, ended_at)
SELECT seq, 0, 'failed', 1, 2 FROM hanbeon.job WHERE seq % 100 = 0;
INSERT INTO hanbeon.edge (dependency, dependent) SELECT seq, seq + 150 FROM hanbeon.job WHERE seq <= 149000;
"""
ID = "'00000000-0000-0000-0000-000000000007'"
TRIED_TWICE = "'00000000-0000-0000-0000-0000000005dc'"
EXECUTION = "'00000000-0000-0000-0000-000000030e4f'"

# The view, the condition, how many rows it finds at least, and how many of the big tables it may read for that.
ASKED = [
    ("job_queue", f"id = {ID}", 1, 20),
    ("job_queue", f"office_id = {ID}", 1_000, 3_500),
    ("job_queue", f"office_id = {ID} AND status = 'done'", 990, 3_500),
    *(
        ("job_queue", f"office_id = {ID} AND status = '{status}'", 1, 20)
        for status in ("pending", "ready", "timeout", "failed", "cancelled")
    ),
    ("job_queue", f"office_id = {ID} AND status IN ('ready', 'failed')", 2, 20),
    *(
        ("job_queue", f"status = '{status}'", 149, 1_000)
        for status in ("pending", "ready", "timeout", "failed", "cancelled")
    ),
    ("job_executions", f"job_id = {TRIED_TWICE}", 2, 20),
    ("job_executions", "status = 'running'", 149, 4_000),
    ("job_executions", "status = 'timeout'", 149, 4_000),
    ("executions", f"execution_id = {EXECUTION}", 1, 20),
    ("executions", "task_id = 't7'", 1_000, 8_000),
    ("executions", f"schedule_id = {ID}", 2, 200),
    *(("executions", f"status = '{status}'", 50, 1_500) for status in ("PENDING", "RUNNING", "FAILED")),
    ("schedules", f"id = {ID}", 1, 20),
    ("schedules", "name = 's7'", 1, 20),
    ("schedules", "task_id = 't7'", 400, 600),
]
BIG = {"job", "edge", "past_attempt", "execution", "schedule"}
_ID = re.compile(r"#id\(((?:[^()]|\([^()]*\))*)\)")
_MADE = {
    Postgres: r"CAST('00000000-0000-0000-0000-' || lpad(to_hex(\1), 12, '0') AS uuid)",
    Sqlite: r"printf('00000000-0000-0000-0000-%012x', \1)",
}
# How many steps of SQLite's machine a row of a big table and what belongs to it may take.
STEPS = 150


def _in(dialect: Dialect, sql: str) -> str:
    return translate(_ID.sub(_MADE[dialect], sql), dialect)


def _asked(dialect: Dialect) -> Iterator[tuple[str, str, int, int]]:
    for view, condition, found, read in ASKED:
        for shown in ("*", "count(*)"):
            yield view, _in(dialect, f"SELECT {shown} FROM hanbeon.{view} WHERE {condition}"), found, read
            if dialect is Sqlite and view in ("job_queue", "job_executions"):  # Their plain names.
                yield view, _in(dialect, f"SELECT {shown} FROM {view} WHERE {condition}"), found, read


@pytest.mark.slow
async def test_conditions_reach_the_indexes_on_postgresql(postgres_url: str) -> None:
    await migrate(postgres_url)
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute(_in(Postgres, FILL))
        await connection.execute("INSERT INTO hanbeon.job_id (id, seq) SELECT id, seq FROM hanbeon.job")
        # Before there are statistics all jobs of executions look like few; autovacuum makes some within a minute.
        found = await _read_too_much(connection, "unknown", {"job_queue", "job_executions", "schedules"})
        await connection.execute("ANALYZE")
        found += await _read_too_much(connection, "analysed", {view for view, *_ in ASKED})
    finally:
        await connection.close()
    assert not found, "\n".join(found)


async def _read_too_much(connection: Any, when: str, views: set[str]) -> list[str]:
    wrong = []
    for view, sql, found, most in _asked(Postgres):
        if view not in views:
            continue
        plan = msgspec.json.decode(await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}"))[0]["Plan"]
        read = sum(_rows_read(plan))
        if read > most:
            wrong.append(f"{when}: {sql}: reads {read} rows, not {most} at the most")
        if "count(" not in sql and plan["Actual Rows"] < found:
            wrong.append(f"{when}: {sql}: finds {plan['Actual Rows']} rows, not {found}: the test tests nothing")
    return wrong


def _rows_read(plan: dict[str, Any]) -> Iterator[int]:
    if plan.get("Relation Name") in BIG:
        yield round((plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"])
    for below in plan.get("Plans", ()):
        yield from _rows_read(below)


@pytest.mark.slow
async def test_conditions_reach_the_indexes_on_sqlite(sqlite_url: str) -> None:
    """By the steps of its virtual machine, which grow with every row that is looked at."""
    await migrate(sqlite_url)
    database = apsw.Connection(sqlite_url.removeprefix("sqlite:///"))
    database.execute("PRAGMA synchronous = OFF")
    database.execute(_in(Sqlite, FILL))
    wrong = _steps_too_many(database, "unknown")
    database.execute("ANALYZE")
    wrong += _steps_too_many(database, "analysed")
    database.close()
    assert not wrong, "\n".join(wrong)


def _steps_too_many(database: apsw.Connection, when: str) -> list[str]:
    wrong = []
    for _, sql, found, most in _asked(Sqlite):
        steps = 0

        def step() -> bool:
            nonlocal steps
            steps += 10
            return False

        database.set_progress_handler(step, 10)
        rows = len(database.execute(sql).fetchall())
        database.set_progress_handler(None)
        if steps > most * STEPS:
            wrong.append(f"{when}: {sql}: takes {steps} steps, not {most * STEPS} at the most")
        if "count(" not in sql and rows < found:
            wrong.append(f"{when}: {sql}: finds {rows} rows, not {found}: the test tests nothing")
    return wrong
