"""The benchmark graph is wide, and all of it can run."""

import importlib
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("count", [5, 60, 1100])
async def test_every_job_but_the_first_few_waits_for_four(
    count: int, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_URL", sqlite_url)
    monkeypatch.setenv("BENCH_MARKS", str(tmp_path / "marks"))
    monkeypatch.delitem(sys.modules, "bench.adapters.ours", raising=False)
    monkeypatch.delitem(sys.modules, "bench.adapters.marks", raising=False)
    ours = importlib.import_module("bench.adapters.ours")
    async with ours.app as app:
        await ours.graph(count)(app)
        waiting = [record.unmet for record in await app.jobs(limit=2000)]
        assert waiting == [0] * min(count, 8) + [4] * (count - 8)
        worker = app.worker(concurrency=1000)
        while await worker.tick():
            pass
        assert {record.state for record in await app.jobs(limit=2000)} == {"succeeded"}
