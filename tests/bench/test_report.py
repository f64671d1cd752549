"""The report, from stored results."""

import sys
from pathlib import Path

import msgspec
import pytest

from bench import records
from bench.__main__ import main
from bench.records import Context, Record, Results
from bench.report import page
from bench.scenarios import SCENARIOS

_CONTEXT = Context(
    began_at="2026-01-02T03:04:05+00:00",
    command="python -m bench",
    machine={"CPU": "a fast one, 2 cores"},
    versions={"Python": "3.11", "pgqueuer": "1.6.0"},
)


_SAMPLE = dict.fromkeys(
    ("enqueued", "ran", "backlog", "p50", "p99", "tables_mb", "indexes_mb", "live", "memory_mb", "cpu"), 7.0
)


def drained(subject: str, measure: str, rep: int, **values: float) -> Record:
    return Record(
        scenario="drain", measure=measure, subject=subject, rep=rep, values=values, at="now", idle=0.5 + rep / 10
    )


def results() -> Results:
    made = [
        drained(subject, measure, rep, rate=factor * rate, durable_rate=rate * rep, duplicates=twice)
        for subject, rate, twice in (("hanbeon-postgres", 30_000, 0), ("pgqueuer-100", 10_000, 3))
        for measure, factor in (("1 worker", 2), ("2 workers", 3))
        for rep in (1, 2, 3)
    ]
    made.append(Record(scenario="drain", measure="", subject="dramatiq", rep=1, error="no such file: /a/b"))
    made.append(drained("huey-redis", "1 worker", 1, rate=5000))
    made += [
        Record(scenario="floor", measure=f"batch 500 x {n}", subject="floor-postgres", rep=1, values={"rate": rate})
        for n, rate in ((1, 80_000), (2, 100_000))
    ]
    made += [
        Record(
            scenario="soak", measure="sample", subject="hanbeon-postgres", rep=1, values=dict(_SAMPLE, at=at, dead=at)
        )
        for at in (30.0, 60.1, 90.0, 120.2)
    ]
    return Results(context=_CONTEXT, records=made)


def report() -> str:
    return page.render(results(), list(SCENARIOS.values()))


def test_each_peer_stands_beside_ours() -> None:
    lines = report().splitlines()
    (row,) = [line for line in lines if line.startswith("| pgqueuer-100 ")]
    assert row.count("| 20,000 (10,000–30,000) | 3.00× ") == 2
    assert row.endswith("| 1.00× |")
    (row,) = [line for line in lines if line.startswith("| huey-redis ")]
    assert "| 5,000 | 12.00× | – | – |" in row


def test_failures_are_reported_without_paths() -> None:
    assert "| dramatiq | 8 threads | failed | – | failed | – | – |" in report()
    assert "Could not be measured: dramatiq (drain)." in report()
    assert "/a/b" not in report()


def test_aims_stand_beside_what_was_measured() -> None:
    assert "| drain, 1 process: ours ÷ pgqueuer-100 | ≥ 3×, aim 3.5× | 3.00× | met |" in report()
    assert "share of the floor (batch 500) | ≥ 50 % | 75.00 % | met |" in report()
    assert "SQLite: ours" not in report()


def test_two_processes_stand_beside_two_of_the_floor() -> None:
    (row,) = [line for line in report().splitlines() if line.startswith("| hanbeon-postgres | async")]
    assert row.endswith("| 1.00× |")
    assert "| drain on postgres: 2 processes ÷ 1 | floor: 1.25× | 1.00× |" in report()


def test_a_soak_is_reported_by_minute_and_quarter() -> None:
    rows = [line for line in report().splitlines() if line.startswith(("| 1 |", "| 2 |", "| 3 |"))]
    assert [row.split("|")[10].strip() for row in rows] == ["45", "105"]
    assert "| soak: dead rows, last quarter ÷ second | ≤ 1.2× | 2.00× | missed |" in report()
    assert "| soak: p99 ms, last quarter ÷ second | ≤ 1.2× | 1.00× | met |" in report()


def test_duplicates_machine_and_versions_are_reported() -> None:
    assert "Jobs that ran more than once: pgqueuer-100 (3)." in report()
    for fact in ("a fast one, 2 cores", "pgqueuer 1.6.0", "`python -m bench`", "| repetitions | 3 |", "60% to 80%"):
        assert fact in report()


def test_only_what_is_between_the_markers_is_replaced() -> None:
    old = page.PAGE.read_text()
    new = page.replaced(old, "NEW")
    assert page.replaced(new, "NEW") == new
    assert new.startswith(old.partition(page.BEGIN)[0])
    assert new.endswith(old.partition(page.END)[2])
    with pytest.raises(ValueError, match="markers"):
        page.replaced("a page", "NEW")


def test_several_runs_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    older = Results(context=msgspec.structs.replace(_CONTEXT, began_at="2025-01-01T00:00:00+00:00"), records=[])
    paths = [records.save(results()), records.save(older)]
    assert records.latest() == [paths[0]]
    assert records.load(paths) == results()


def test_a_stored_run_is_shown_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["bench", "--from", str(records.save(results()))])
    assert main() == 0
    output = capsys.readouterr().out
    assert "20,000 (10,000–30,000)" in output
    assert "failed" in output
