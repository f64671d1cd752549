"""A table with very many jobs, written by the database itself, and the cost of reading it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from hanbeon.domain.lifecycle import State
from hanbeon.store.database import postgres
from hanbeon.store.dialect import Dialect, Postgres, Sqlite
from hanbeon.store.operations.job_indexes import JobSearch
from hanbeon.store.statements import statement
from hanbeon.store.tx import Tx

SECOND = 1_000_000
BEGIN = 1_700_000_000 * SECOND
"""When the first of the jobs was created; then one every second."""
RARE = 40
"""How many jobs have each rare property. They are among the oldest, behind all that do not have it."""

# Lane 1 holds most jobs, each rare property has a lane of its own, and the others share the rest.
_LANES = """
INSERT INTO hanbeon.queue (name, created_at, changed_at) VALUES ('common', 1, 1), ('rare', 1, 1);
INSERT INTO hanbeon.lane (queue_id, task, role, concurrency_key, used_at) VALUES
  (1, 'common', 'common', '', 0), (2, 'common', 'common', '', 0), (1, 'rare', 'common', '', 0),
  (1, 'common', 'rare', '', 0), (1, 'common', 'common', 'rare', 0);
INSERT INTO hanbeon.lane (queue_id, task, role, concurrency_key, used_at)
SELECT 1, 'common', 'common', 'common' || n, 0 FROM {lanes};
"""
_JOBS = """
INSERT INTO hanbeon.job (id, lane, state, urgent, priority, rank, run_at, created_at, started_at, finished_at,
  instance, locked_until, on_dependency_failure, policy, args, digest, idempotency_key, unique_key, failure_type)
SELECT {id}, (CASE n / {rare} WHEN 0 THEN {one} * 2 ELSE {one} END << 32) + CASE n / {rare}
    WHEN 0 THEN 2 WHEN 1 THEN 3 WHEN 2 THEN 4 WHEN 3 THEN 5
    ELSE CASE n % 2 WHEN 0 THEN 1 ELSE 6 + n % 20 END END,
  s.state, false, n % 3, n % 3, n, {begin} + n * {second}, CASE WHEN s.state <> 'pending' THEN 1 END,
  CASE WHEN s.state IN (@terminal_states) THEN n END, CASE WHEN s.state = 'running' THEN 1 END,
  CASE WHEN s.state = 'running' THEN 1 END, 'block', '{{}}', '{{"n": ' || n || '}}', '',
  CASE n WHEN 500 THEN 'rare' ELSE CASE n % 4 WHEN 0 THEN 'i' || n END END,
  CASE n / {rare} WHEN 13 THEN 'rare' ELSE CASE n % 4 WHEN 1 THEN 'u' || n END END,
  CASE n / {rare} WHEN 12 THEN 'rare' ELSE CASE s.state WHEN 'failed' THEN 'error' END END
FROM (
  SELECT n, CASE n / {rare}
    WHEN 5 THEN 'ready' WHEN 6 THEN 'pending' WHEN 7 THEN 'running' WHEN 8 THEN 'cancelled' WHEN 9 THEN 'failed'
    WHEN 10 THEN 'succeeded' WHEN 12 THEN 'failed' WHEN 13 THEN 'succeeded'
    ELSE CASE n % 100 WHEN 7 THEN 'failed' WHEN 8 THEN 'cancelled' ELSE 'succeeded' END END AS state
  FROM {numbers}
) AS s
ORDER BY n;
"""


def fill(dialect: Dialect, first: int, last: int) -> list[str]:
    """Return the statements that make the jobs with these numbers, and with the first one the lanes."""
    words: dict[str, object] = {"rare": RARE, "begin": BEGIN, "second": SECOND}
    if dialect is Postgres:
        words |= {
            "one": "CAST(1 AS bigint)",
            "id": "CAST('0190' || lpad(to_hex(n), 28, '0') AS uuid)",
            "numbers": f"generate_series(CAST({first} AS bigint), {last}) AS g(n)",
            "lanes": "generate_series(1, 20) AS g(n)",
        }
    else:
        text = "'0190' || printf('%028x', n)"
        cut = " || '-' || ".join(f"substr({text}, {at}, {size})" for at, size in _UUID_PARTS)
        words |= {
            "one": "1",
            "id": cut,
            "numbers": _numbers(first, last),
            "lanes": _numbers(1, 20),
        }
    texts = (
        ((_LANES if first == 1 else "") + _JOBS)
        .format(**words)
        .replace("@terminal_states", dialect.words["terminal_states"])
    )
    if dialect is Postgres:
        made = f"SELECT j.id, j.seq FROM hanbeon.job AS j WHERE j.run_at BETWEEN {first} AND {last}"
        texts += f"INSERT INTO hanbeon.job_id (id, seq) {made};\n"
    if dialect is Sqlite:
        texts = texts.replace("hanbeon.", "hanbeon_")
    return [text for text in texts.split(";\n") if text.strip()]


_UUID_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))


def _numbers(first: int, last: int) -> str:
    grow = f"SELECT {first} UNION ALL SELECT n + 1 FROM g WHERE n < {last}"
    return f"(WITH RECURSIVE g(n) AS ({grow}) SELECT n FROM g) AS g"


SEARCHES: dict[str, list[JobSearch]] = {
    "state": [JobSearch(states=(state,)) for state in State] + [JobSearch(states=tuple(State))],
    "queue": [JobSearch(queue="common"), JobSearch(queue="rare"), JobSearch(queue="none")],
    "task": [JobSearch(task="common"), JobSearch(task="rare"), JobSearch(task="none")],
    "role": [JobSearch(role="common"), JobSearch(role="rare"), JobSearch(role="")],
    "key": [JobSearch(key="common1"), JobSearch(key="rare"), JobSearch(key="u1"), JobSearch(key="i4")],
    "id": [
        JobSearch(id="0190"),
        JobSearch(id="0190-"),
        JobSearch(id="01900000-0000-0000-0000-00000000000"),
        JobSearch(id="01900000-0000-0000-0000-000000000007"),
    ],
    "failure_type": [JobSearch(failure_type="error"), JobSearch(failure_type="rare"), JobSearch(failure_type="none")],
    "created_after": [JobSearch(created_after=BEGIN + 100 * SECOND), JobSearch(created_after=2 * BEGIN)],
    "created_before": [JobSearch(created_before=BEGIN + 1_000 * SECOND), JobSearch(created_before=BEGIN)],
}
"""For each filter, values that most jobs have, that few have, and that none has."""
PAIRS = [
    JobSearch(states=(State.SUCCEEDED,), queue="rare"),
    JobSearch(states=(State.READY,), queue="common"),
    JobSearch(states=(State.FAILED,), queue="rare"),
    JobSearch(states=(State.FAILED,), task="common"),
    JobSearch(states=(State.FAILED,), failure_type="rare"),
    JobSearch(states=(State.SUCCEEDED,), role="rare"),
    JobSearch(states=(State.CANCELLED,), created_before=BEGIN + 1_000 * SECOND),
    JobSearch(queue="common", task="rare"),
    JobSearch(queue="rare", task="rare"),
    JobSearch(queue="common", role="rare"),
    JobSearch(queue="common", key="rare"),
    JobSearch(queue="common", created_before=BEGIN + 1_000 * SECOND),
    JobSearch(queue="common", failure_type="rare"),
    JobSearch(task="common", created_after=BEGIN + 100 * SECOND),
    JobSearch(task="common", failure_type="rare"),
]


class CountedTx:
    """A transaction on PostgreSQL that counts the blocks its statements touch."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.blocks = 0
        self.plans: list[str] = []

    async def fetch(self, name: str, *values: Any) -> Sequence[Any]:
        sql = statement(name, Postgres)
        async with self._connection.transaction():
            await self._connection.execute(postgres._PLANS)
            await self._connection.execute(f"PREPARE counted AS {sql}")
            call = f"counted({', '.join(map(_literal, values))})" if values else "counted"
            text = await self._connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE {call}")
            await self._connection.execute("DEALLOCATE counted")
        plan = msgspec.json.decode(text)[0]["Plan"]
        blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        self.blocks += blocks
        self.plans.append(f"{blocks} blocks: {name}({', '.join(map(str, values))[:200]})")
        rows: Sequence[Any] = await self._connection.fetch(sql, *values)
        return rows


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + re.sub("'", "''", str(value)) + "'"


def as_tx(counted: CountedTx) -> Tx:
    return counted  # type: ignore[return-value]
