"""The judgement of a load sees each kind of loss and of doubling, in a database and a journal that were doctored."""

from __future__ import annotations

import os
import random
from pathlib import Path

from tests.storm.chaos.load import KINDS, Mixed
from tests.storm.chaos.tasks import make_app
from tests.storm.journal import write_line
from tests.storm.moments import make_ledger, rows_of
from tests.storm.workload import Verdict

_SECOND_SUCCESS = """
INSERT INTO hanbeon.past_attempt (job, attempt, status, instance, started_at, ended_at)
SELECT a.job, 7, 'completed', a.instance, a.started_at, a.ended_at
FROM hanbeon.attempt AS a JOIN hanbeon.job AS j ON j.seq = a.job WHERE j.id = '{noted}' AND a.status = 'completed'
"""
_DOCTORED = (
    ("INSERT INTO ledger (job, fence) VALUES ('{ledger}', 9)", "doubled", "row of {ledger}: 2, not 1"),
    ("DELETE FROM ledger WHERE job = '{ledger}'", "lost", "row of {ledger}: 0 of 1"),
    ("INSERT INTO ledger (job, fence) VALUES ('{noted}', 1)", "doubled", "row of {noted}: 1, not 0"),
    ("UPDATE hanbeon.job SET work_item = '{quick}' WHERE work_item = '{parent}'", "doubled", "children of {quick}"),
    ("UPDATE hanbeon.job SET work_item = '{quick}' WHERE work_item = '{parent}'", "lost", "children of {parent}: 0 of"),
    (_SECOND_SUCCESS, "doubled", "success of {noted}: 2, not 1"),
    ("UPDATE hanbeon.job SET state = 'failed' WHERE id = '{flaky}'", "lost", "job {flaky} of flaky is failed"),
    ("DELETE FROM hanbeon.job WHERE id = '{nap}'", "lost", "job {nap}: 0 of 1"),
)
_WRITTEN = (
    ("ran {noted} 1", "body of {noted}, attempt 1: 2 times"),
    ("ran {noted} 99", "body of {noted}, attempt 99: nobody claimed it"),
    ("did {once} 1", "body of {once} ran 2 times, and must not"),
)


async def test_judgement_sees_what_was_lost_and_doubled(sqlite_url: str, tmp_path: Path) -> None:
    journal = str(tmp_path / "journal")
    work = Mixed(journal=journal)
    rng = random.Random(1)
    async with make_app(sqlite_url, shutdown_grace=0.0) as app, app.worker():
        await make_ledger(app)
        for kind in [*KINDS.keys() - {"streamed", "limited"}, "parent"]:
            work.add(app, rng, kind)
        await app.enqueue_many(work.requests)
        await work.until_done(app)
        assert await work.judge(app) == Verdict()
        names = {request.task.name: request.id for request in work.requests}
        for line, found in _WRITTEN:
            write_line(journal, line.format(**names))
            assert found.format(**names) in (await work.judge(app)).doubled
        os.truncate(journal, 0)
        assert f"body of {names['noted']} never ran" in (await work.judge(app)).lost
        for sql, where, found in _DOCTORED:
            await rows_of(app.store, sql.format(**names))
            verdict = await work.judge(app)
            assert any(found.format(**names) in each for each in getattr(verdict, where)), (found, verdict)
