"""Small real runs of ours.

The first starts interpreters and the second a server of its own, as a benchmark does. Apart from that, their programs
are forks and their server is that of the tests: starts were most of what they cost.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

import pytest

from bench import processes
from bench.options import parse
from bench.records import ROOT
from bench.rig import Rig
from bench.scenario import Measurement
from bench.scenarios import SCENARIOS
from bench.table import SUBJECTS
from tests.cli.hanbeon import SCRIPT
from tests.databases.postgres import PostgresServer
from tests.processes.fork_server import Program, start_program

_JOBS = 200


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the modules of a benchmark as forks of a process that has imported the package."""
    start = processes._start

    def fork(
        command: Sequence[str], environment: Mapping[str, str], stdout: int | IO[str], stderr: int | IO[str]
    ) -> subprocess.Popen[str]:
        if command[0] == SCRIPT:
            module, *arguments = ["hanbeon", *command[1:]]
        elif command[1] == "-m":
            module, *arguments = command[2:]
        else:
            return start(command, environment, stdout, stderr)
        # A fork has the path and the unbuffered output that these would give an interpreter.
        given = {name: value for name, value in environment.items() if not name.startswith("PYTHON")}
        program = Program(module, arguments, {**os.environ, **given}, str(ROOT), new_session=True)
        return start_program(program, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)

    monkeypatch.setattr(processes, "_start", fork)


@contextmanager
def _rig(arguments: list[str], server: PostgresServer | None = None) -> Iterator[Rig]:
    """A rig of ours alone: on this server, or on SQLite without one."""
    subject = SUBJECTS["hanbeon-sqlite" if server is None else "hanbeon-postgres"]
    options = parse([*arguments, "--quiet-wait", "0", "--peers", "none"], list(SCENARIOS), [])
    with Rig(options, [subject]) as rig:
        rig.servers._postgres = server
        yield rig


@pytest.mark.slow
def test_ours_is_filled_and_drained_and_leaves_nothing() -> None:
    options = parse(["--jobs", str(_JOBS), "--quiet-wait", "0", "--short"], list(SCENARIOS), [])
    with Rig(options, [SUBJECTS["hanbeon-sqlite"]]) as rig:
        folders = [rig.folder, rig.marks.path.parent]
        measured = [*_all(rig, "enqueue"), *_all(rig, "drain")]
    assert [each.measure for each in measured] == ["one by one", "bulk", "1 worker", "2 workers"]
    assert all(each.values["jobs"] == _JOBS and each.values["rate"] > 0 for each in measured)
    for each in measured[2:]:
        assert (each.values["ran"], each.values["duplicates"]) == (_JOBS, 0)
        assert each.values["durable_rate"] > 0
    assert not any(folder.exists() for folder in folders)


@pytest.mark.slow
@pytest.mark.usefixtures("forks", "postgres_installation")
def test_scenarios_without_peers_can_be_measured() -> None:
    arguments = ["--jobs", str(_JOBS), "--minutes", "0.05", "--quiet-wait", "0", "--peers", "none"]
    with Rig(parse(arguments, list(SCENARIOS), []), [SUBJECTS["hanbeon-postgres"]]) as rig:
        flat = [each for step in SCENARIOS["flat"].steps(rig)[3:6] for each in step.run()]
        graph, soak = _all(rig, "graph"), _all(rig, "soak")
    assert len(flat) == 3
    assert all(each.values["ran"] >= _JOBS and each.values["duplicates"] == 0 for each in flat)
    *sizes, plain, packages, gap = graph
    assert [each.values["ran"] for each in (*sizes, plain, packages)] == [_JOBS // 10, *[_JOBS] * 3]
    assert all(each.values["worker_mb"] > 10 and each.values["client_mb"] > 10 for each in sizes)
    assert 0 < gap.values["p50"] <= gap.values["p99"]
    assert len(soak) == 24
    assert sum(each.values["ran"] for each in soak) > 0
    assert all(each.values["tables_mb"] > 0 and each.values["memory_mb"] > 10 for each in soak)


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_each_kind_of_task_can_be_measured() -> None:
    with _rig(["--jobs", str(_JOBS)]) as rig:
        measured = _all(rig, "bodies")
    assert len({each.measure for each in measured}) == 7
    assert all((each.values["ran"], each.values["duplicates"]) == (_JOBS, 0) for each in measured)


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_requests_to_a_server_can_be_measured(postgres_server: PostgresServer) -> None:
    with _rig(["--jobs", str(_JOBS), "--short"], postgres_server) as rig:
        batches, singles, *stats = _all(rig, "server")
    assert batches.values["jobs"] == _JOBS
    assert all(each.values["engine"] > 0 and each.values["request"] > 0 for each in (batches, singles))
    assert [each.values["jobs"] for each in stats] == [5_000, 25_000]
    assert all(each.values["p50"] > 0 for each in stats)


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_event_latency_can_be_measured(postgres_server: PostgresServer) -> None:
    with _rig(["--jobs", str(_JOBS), "--short"], postgres_server) as rig:
        start, heard = _all(rig, "events")
    assert start.values["ran"] > 0
    assert 0 < heard.values["p50"] <= heard.values["p99"] <= heard.values["max"]


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_schedules_can_be_measured(postgres_server: PostgresServer) -> None:
    with _rig(["--jobs", "40"], postgres_server) as rig:
        measured = _all(rig, "schedules")
    made = [each.values["made"] for each in measured if "due, of" in each.measure]
    assert made == [1, 1]
    looks = [each.values["statements"] for each in measured if each.measure.startswith("look")]
    assert looks == [1, 1], "what is not due is not read"
    assert [each.values["ran"] for each in measured if "to start" in each.measure] == [40, 40]


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_bulk_moves_can_be_measured(postgres_server: PostgresServer) -> None:
    with _rig(["--jobs", "3000"], postgres_server) as rig:
        idle, busy = _all(rig, "bulk")
    assert 0 < idle.values["p50"] <= idle.values["p99"]
    assert busy.values["rate"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_chains_can_be_measured(postgres_server: PostgresServer) -> None:
    with _rig(["--jobs", "400"], postgres_server) as rig:
        operations, plain = _all(rig, "chains")
    assert (operations.values["chains"], plain.values["jobs"]) == (10, 100)
    assert min(operations.values["rate"], plain.values["rate"]) > 0


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_streams_and_rendering_can_be_measured(postgres_server: PostgresServer) -> None:
    with _rig(["--jobs", "400", "--short"], postgres_server) as rig:
        wire, engine, rate = _all(rig, "streams")
        by_clock, of_processor = _all(rig, "rendering")
    assert rate.values["jobs"] == 200
    assert min(each.values["value"] for each in (wire, engine, rate)) > 0
    assert 0 < by_clock.values["rate"] <= of_processor.values["rate"] * 1.1


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_dashboards_can_be_measured() -> None:
    with _rig(["--jobs", "2000", "--short"]) as rig:
        _, apart = SCENARIOS["dashboards"].steps(rig)  # A worker in the server is measured in the same way.
        measured = list(apart.run())
    assert len({each.measure for each in measured}) == 2
    # The meter begins at the first look that sees a job end: on a busy machine all may have ended by then.
    assert all(each.values["rate"] > 0 and each.values["engine_us"] >= 0 for each in measured)
    assert ["requests" in each.values for each in measured] == [False, True]


def _all(rig: Rig, scenario: str) -> list[Measurement]:
    return [each for step in SCENARIOS[scenario].steps(rig) for each in step.run()]
