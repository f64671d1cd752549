"""Fills our tables by SQL as if jobs had been enqueued and run: the only module of the benchmarks that knows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from hanbeon.domain.limits import QueueLimits
from hanbeon.store.dialect import Postgres
from hanbeon.store.statements import statement
from hanbeon.surfaces.schedules.definition import Definition

Query = Callable[[str], object]

_NO_LIMITS = QueueLimits()
_EVENTS_PER_BATCH = 500

_QUEUES = """
INSERT INTO hanbeon.queue (name, paused, limited, limits, created_at, changed_at)
SELECT '{name}' || CASE WHEN {queues} > 1 THEN '-' || n ELSE '' END, {paused}, {limited}, '{limits}', hanbeon.now(),
  hanbeon.now()
FROM generate_series(1, {queues}) AS n
ON CONFLICT DO NOTHING
"""
_LANES = """
INSERT INTO hanbeon.lane (queue_id, task, role, used_at)
SELECT q.id, '{task}', r.role, hanbeon.now() FROM hanbeon.queue AS q CROSS JOIN unnest(ARRAY[{roles}]) AS r(role)
WHERE q.name = '{name}' OR q.name LIKE '{name}-%'
ORDER BY q.id
ON CONFLICT DO NOTHING
"""
# Ids grow with time like those of the App, and all are smaller than those that it assigns now.
_JOBS = """
WITH lane AS MATERIALIZED (
  SELECT (l.queue_id << 32) | l.n AS number, row_number() OVER (ORDER BY l.n) - 1 AS place
  FROM hanbeon.lane AS l JOIN hanbeon.queue AS q ON q.id = l.queue_id
  WHERE l.task = '{task}' AND (q.name = '{name}' OR q.name LIKE '{name}-%')
),
t AS MATERIALIZED (SELECT hanbeon.now() AS now, coalesce(max(seq), 0) AS last FROM hanbeon.job)
INSERT INTO hanbeon.job (id, lane, state, urgent, priority, rank, run_at, created_at, on_dependency_failure,
  policy, args, digest, fence, instance, started_at, finished_at, attempt_status, result)
SELECT
  (lpad(to_hex(t.now / 1000 - {day_ms} + t.last + s.n), 12, '0') || '7' || substr(s.hash, 1, 3) || '8'
    || substr(s.hash, 4, 15))::uuid,
  lane.number, CASE WHEN {finished} THEN 'succeeded' ELSE 'ready' END, false, 0, 0, t.now, t.now, 'block',
  '{{"base_us":60000000,"jitter":0.0}}', '{{"x":' || s.n || '}}', substr(s.hash, 1, 24), {finished}::int,
  CASE WHEN {finished} THEN 0 END, CASE WHEN {finished} THEN t.now END, CASE WHEN {finished} THEN t.now END,
  CASE WHEN {finished} THEN 'completed' END, CASE WHEN {finished} THEN 'null' END
FROM (SELECT n, md5(n::text) AS hash FROM generate_series(1, {count}) AS n) AS s
CROSS JOIN t
JOIN lane ON lane.place = s.n % (SELECT count(*) FROM lane)
ORDER BY s.n
"""
_IDS = (
    "INSERT INTO hanbeon.job_id (id, seq) SELECT j.id, j.seq FROM hanbeon.job AS j ORDER BY j.id ON CONFLICT DO NOTHING"
)
_EVENTS = """
WITH e AS (
  SELECT (row_number() OVER (ORDER BY j.seq) - 1) / {batch} AS batch, j.finished_at AS at,
    json_build_object('type', 'succeeded', 'at', j.finished_at, 'queue', '{name}', 'job_id', j.id, 'task', '{task}',
      'state', 'succeeded', 'was', 'running', 'attempt', 1) AS event
  FROM hanbeon.job AS j WHERE j.finished_at IS NOT NULL
),
made AS (
  INSERT INTO hanbeon.event_batch (at, count, first_id, body)
  SELECT max(e.at), count(*), 1 + e.batch * {batch}, json_agg(e.event)::text FROM e GROUP BY e.batch ORDER BY e.batch
  RETURNING count
)
UPDATE hanbeon.event_counter SET last_id = (SELECT sum(count) FROM made)
"""
_HOLD = """
UPDATE hanbeon.job SET state = 'running', fence = 1, instance = 0, started_at = hanbeon.now(),
  locked_until = hanbeon.now() + 86400000000
WHERE seq = (SELECT min(j.seq) FROM hanbeon.job AS j JOIN hanbeon.queue AS q ON q.id = (j.lane >> 32)
  WHERE q.name = '{name}')
"""


_TASKS = """
INSERT INTO hanbeon.task (name, settings, registered_by, first_registered_at, registered_at)
SELECT 'scheduled-' || n, '{{}}', 'bench', hanbeon.now(), hanbeon.now() FROM generate_series(1, {tasks}) AS n
"""
# Next due in a thousand years: a measurement makes schedules due when it needs them.
_SCHEDULES = """
INSERT INTO hanbeon.schedule (id, task_id, definition, paused, considered_to, timed_since, next_fire_at, due_at,
  created_by, created_at, changed_at)
SELECT
  (lpad(to_hex(s.n), 12, '0') || '7' || substr(md5(s.n::text), 1, 3) || '8' || substr(md5(s.n::text), 4, 15))::uuid,
  (SELECT min(t.id) FROM hanbeon.task AS t WHERE t.name LIKE 'scheduled-%') + s.n % {tasks},
  '{definition}', false, t.now, t.now, t.now + {far}, t.now + {far} + s.n, 'bench', t.now, t.now
FROM generate_series(1, {count}) AS s(n) CROSS JOIN (SELECT hanbeon.now() AS now) AS t
"""
_FALL_DUE = """
UPDATE hanbeon.schedule AS s SET considered_to = t.midnight - 1, next_fire_at = t.midnight, due_at = t.midnight
FROM (SELECT hanbeon.now() / 86400000000 * 86400000000 AS midnight) AS t
WHERE s.id IN (SELECT i.id FROM hanbeon.schedule AS i ORDER BY i.id OFFSET {start} LIMIT {count})
"""
_END_ALL = "UPDATE hanbeon.job SET state = 'cancelled', finished_at = hanbeon.now() WHERE finished_at IS NULL"
_FAR_US = 1_000 * 365 * 86_400_000_000


@dataclass(frozen=True, kw_only=True)
class SeedJobs:
    """Jobs to create: `count` of them, distributed over the queues and their roles."""

    count: int
    name: str = "default"
    queues: int = 1
    task: str = "noop"
    roles: tuple[str, ...] = ("",)
    limits: QueueLimits = _NO_LIMITS
    paused: bool = False
    finished: bool = False
    """Finished jobs with their events, only for a database without events; ready jobs otherwise."""


def seed(query: Query, jobs: SeedJobs) -> None:
    """Create the queues and the jobs. Nothing may have been enqueued before."""
    words = {
        "name": jobs.name,
        "queues": jobs.queues,
        "task": jobs.task,
        "roles": ", ".join(f"'{role}'" for role in jobs.roles),
        "paused": jobs.paused,
        "limited": jobs.limits.limited,
        "limits": msgspec.json.encode(jobs.limits).decode(),
        "count": jobs.count,
        "finished": jobs.finished,
        "batch": _EVENTS_PER_BATCH,
        "day_ms": 86_400_000,
    }
    for step in (_QUEUES, _LANES, _JOBS, _IDS, *([_EVENTS] if jobs.finished else [])):
        query(step.format(**words))
    _count(query)


def seed_schedules(query: Query, count: int, tasks: int, definition: Definition) -> None:
    """Create daily schedules at midnight UTC, distributed over `tasks` tasks; none is due."""
    words = {"count": count, "tasks": tasks, "far": _FAR_US, "definition": msgspec.json.encode(definition).decode()}
    for step in (_TASKS, _SCHEDULES):
        query(step.format(**words))


def fall_due(start: int, count: int) -> tuple[str, ...]:
    """Return statements that make `count` schedules, from `start` on, due since the last midnight.

    They also end all earlier executions, so that the tasks are free. Not timed, so their speed does not matter.
    """
    return _END_ALL, _FALL_DUE.format(start=start, count=count)


def hold_one(query: Query, name: str) -> None:
    """Mark one job of this queue as running, under a lease of a day."""
    query(_HOLD.format(name=name))
    _count(query)


def _count(query: Query) -> None:
    """Rebuild the tallies. Only before the engine has written anything: its deltas would count twice."""
    query("TRUNCATE hanbeon.tally")
    query(f"INSERT INTO hanbeon.tally (queue_id, state, jobs, ran_us) {_counts()}")
    query("UPDATE hanbeon.fold SET folded_to = (SELECT c.last_id FROM hanbeon.event_counter AS c)")


def settle_down(query: Query, *, analyzed: bool = True) -> None:
    """Analyze the tables as in production, and flush writes that a measurement would otherwise pay for."""
    if analyzed:
        query("VACUUM ANALYZE")
    query("CHECKPOINT")


def _counts() -> str:
    """Return the count of all jobs; its parameters are the range of their numbers."""
    return statement("audit_counts", Postgres).replace("$1", "0").replace("$2", str(2**62))
