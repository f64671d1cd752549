"""The floor on SQLite, over apsw, with synchronous=FULL, our own default."""

from __future__ import annotations

import time
from collections.abc import Callable

import apsw

_TABLE = """
CREATE TABLE jobs (
  id integer PRIMARY KEY,
  queue text NOT NULL DEFAULT 'q',
  state int NOT NULL DEFAULT 0,
  payload text NOT NULL,
  run_at real,
  claimed_at real,
  finished_at real
);
CREATE INDEX jobs_ready ON jobs (id) WHERE state = 0;
CREATE TABLE one (id int PRIMARY KEY, n int);
INSERT INTO one VALUES (1, 0);
"""
_FILL = """
INSERT INTO jobs (payload, run_at)
WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < ?) SELECT 'x' || i, unixepoch() FROM g
"""
_CLAIM = """
UPDATE jobs SET state = 1, claimed_at = ? WHERE id IN (SELECT id FROM jobs WHERE state = 0 ORDER BY id LIMIT ?)
RETURNING id, payload
"""
_COMPLETE = "UPDATE jobs SET state = 2, finished_at = ? WHERE id = ?"


def fill(url: str, count: int) -> None:
    database = _open(url)
    database.execute(_TABLE)
    database.execute(_FILL, (count,))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    database.close()


def claim(url: str, batch: int, seconds: float, wait: Callable[[], None]) -> tuple[int, float]:
    """Claim and complete jobs; return their number and the seconds it took."""
    database = _open(url)
    wait()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        now = time.time()
        database.execute("BEGIN IMMEDIATE")
        rows = database.execute(_CLAIM, (now, batch)).fetchall()
        database.execute("COMMIT")
        if not rows:
            break
        database.execute("BEGIN IMMEDIATE")
        database.executemany(_COMPLETE, [(now, row[0]) for row in rows])
        database.execute("COMMIT")
        count += len(rows)
    return count, time.perf_counter() - began


def commit(url: str, seconds: float, wait: Callable[[], None]) -> tuple[int, float]:
    """Commit one-row updates one after another; return their number and the seconds it took."""
    database = _open(url)
    wait()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        database.execute("UPDATE one SET n = n + 1 WHERE id = 1")
        count += 1
    return count, time.perf_counter() - began


def _open(url: str) -> apsw.Connection:
    database = apsw.Connection(url.removeprefix("sqlite:///"))
    database.set_busy_timeout(30_000)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        database.execute(f"PRAGMA {pragma}").fetchall()
    return database
