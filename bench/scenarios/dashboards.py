"""The cost of open dashboards for an engine at work: drains with and without them, in turns."""

from __future__ import annotations

import json
import statistics
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from bench import numbers, processes
from bench.comparison import shown
from bench.cpu_meter import CpuMeter
from bench.drain import analyze
from bench.http_server import running_server
from bench.processes import ProgramError
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject

_PAGES = 20
_PAIRS = 3
_SETTLING = 5.0
"""Seconds for the first requests of the pages, which are not measured."""
_TIMEOUT = 180.0
_TOGETHER, _APART = "worker in the server", "worker apart"
_JOBS = {_TOGETHER: 150_000, _APART: 500_000}
"""About 20 seconds' worth: a server logs the end of each job, which takes most of its worker's time."""
_CLOSED, _OPEN = "no page", f"{_PAGES} pages"
_QUEUE = "/api/engine/queues/default"


class Dashboards:
    name = "dashboards"
    title = f"Dashboards: a drain with {_PAGES} open home pages, beside one without"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        ours = [subject for subject in rig.subjects if subject.is_ours]
        return [Step(each.name, partial(_measure, rig, each, setup)) for each in ours for setup in _JOBS]

    def tables(self, results: Results) -> list[Table]:
        rows = []
        for name, setup in self._measured(results):
            row = [name, setup]
            for field in ("engine_us", "rate"):
                row += [shown(results, self.name, (f"{setup}, {each}", (field,)), name) for each in (_CLOSED, _OPEN)]
                row.append(numbers.milliseconds(self._differences(results, name, setup, field)))
            row.append(shown(results, self.name, (f"{setup}, {_OPEN}", ("requests",)), name))
            rows.append(row)
        compared = ("with pages", "% more")
        head = ("queue", "", "µs a job", *compared, "jobs a second", *compared, "requests a second")
        notes = [
            "Processor time of server, worker and database for each job. It decides, because rates of the same code "
            "differ more from drain to drain, and because the browsers' own work takes from the rate here.",
        ]
        return [Table(self.title, head, rows, notes)]

    def aims(self, results: Results) -> list[Aim]:
        return [
            Aim(
                f"{_PAGES} dashboards, {name}, {setup}: processor time more than without",
                statistics.median(found) if (found := self._differences(results, name, setup, "engine_us")) else None,
                most=5,
                unit=" %",
            )
            for name, setup in self._measured(results)
        ]

    def _measured(self, results: Results) -> list[tuple[str, str]]:
        return [(name, setup) for name in results.subjects(self.name) for setup in _JOBS]

    def _differences(self, results: Results, name: str, setup: str, field: str) -> list[float]:
        """Return by how many percent each drain with pages was above the one beside it without."""
        closed, opened = (results.figures(self.name, f"{setup}, {each}", name, field) for each in (_CLOSED, _OPEN))
        pairs = zip(closed, opened, strict=False)  # A failed drain has no figure.
        return [(with_pages / without - 1) * 100 for without, with_pages in pairs]


def _measure(rig: Rig, subject: Subject, setup: str) -> Iterator[Measurement]:
    for number in range(1 if rig.options.short else _PAIRS):
        pair = (_CLOSED, _OPEN) if number % 2 == 0 else (_OPEN, _CLOSED)
        for pages in pair:
            yield _drain(rig, subject, setup, pages)


def _drain(rig: Rig, subject: Subject, setup: str, pages: str) -> Measurement:
    """Drain a queue that was paused until all was in place: the start of a page or of a process is not measured."""
    count = rig.options.drained(_JOBS[setup])
    with ExitStack() as ending:
        database = ending.enter_context(rig.database(subject))
        options = [] if setup == _TOGETHER else ["--no-worker"]
        settings = {"HANBEON_CONCURRENCY": str(subject.setting)}
        url, server = ending.enter_context(running_server(rig, database, *options, settings=settings))
        groups = [server]
        token = _ask(url, "POST", "/api/engine/tokens", {"user": "bench", "scope": "admin"})["token"]
        if setup == _APART:
            groups.append(ending.enter_context(rig.workers(subject, database, 1)))
        rig.client(subject, database, "enqueue", 1)  # A queue begins with its first job.
        if not rig.marks.wait(1, _TIMEOUT, server.check):
            raise ProgramError("the worker does not run jobs")
        _ask(url, "PATCH", _QUEUE, {"paused": True}, token)
        rig.marks.clear()
        rig.fill(subject, database, count)
        analyze(subject, database)
        log = rig.folder / "pages.log"
        if pages == _OPEN:
            command = [sys.executable, "-m", "bench.open_pages", url, token, str(_PAGES)]
            groups.append(ending.enter_context(processes.group([command], rig.environment(database), log)))
            time.sleep(_SETTLING)
        quiet = rig.quiet()
        engine = [pid for group in groups[: 1 + (setup == _APART)] for pid in group.pids]
        meter, own = CpuMeter(engine, rig.servers.pid(subject.store)), CpuMeter(server.pids, None)
        asked = _latest(log) if pages == _OPEN else {}

        def poll() -> None:
            for group in groups:
                group.check()
            if rig.marks.count():
                meter.begin()
                own.begin()

        _ask(url, "PATCH", _QUEUE, {"paused": False}, token)
        if not rig.marks.wait(count, _TIMEOUT, poll):
            raise ProgramError(f"{rig.marks.count()} of {count} jobs ran in {_TIMEOUT:.0f} s")
        used = meter.per_job(count)
        instants = [at for _, at in rig.marks.read()]
        seconds = (max(instants) - min(instants)) / 1e9
        values = {"jobs": count, "seconds": seconds, "rate": count / seconds, "engine_us": sum(used.values())}
        values |= {"serve_us": own.per_job(count)["worker_us"], "database_us": used.get("server_us", 0.0)}
        if pages == _OPEN:
            time.sleep(1.0)
            found = _latest(log)
            values |= {name: (found[name] - asked[name]) / (seconds + 1) for name in ("requests", "hints")}
            values["p50"] = found["p50"]
    return Measurement(f"{setup}, {pages}", values, quiet)


def _ask(url: str, method: str, path: str, body: dict[str, Any], token: str | None = None) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def _latest(log: Path) -> dict[str, float]:
    """Return the last whole line that the pages printed."""
    found: dict[str, float] = json.loads(log.read_text().rpartition("\n")[0].splitlines()[-1])
    return found
