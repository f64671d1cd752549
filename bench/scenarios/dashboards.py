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
from typing import Any, cast

from bench import numbers, processes
from bench.comparison import shown
from bench.cpu_meter import CpuMeter, seconds
from bench.drain import analyze
from bench.http_server import running_server
from bench.processes import ProgramError
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.servers import execute
from bench.subjects import Store, Subject

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
_NAME = "dashboards"
"""By which PostgreSQL knows the connections of the server."""


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
            row.append(numbers.milliseconds(self._share(results, name)) if setup == _APART else "")
            rows.append(row)
        compared = ("with pages", "% more")
        head = ("queue", "", "µs a job", *compared, "jobs a second", *compared, "requests a second", "% for pages")
        notes = [
            "Processor time of server, worker and database for each job. Rates of the same code differ more from drain "
            "to drain, and the browsers' own work takes from the rate here.",
            "For pages: what the server and its connections to PostgreSQL took more than without pages, in percent of "
            "all processor time without them. A server without a worker does nothing else, so this part is certain; "
            "drains without any pages differ from each other by more than it.",
        ]
        return [Table(self.title, head, rows, notes)]

    def aims(self, results: Results) -> list[Aim]:
        found = {
            f"{name}, {setup}: processor time more than without": self._differences(results, name, setup, "engine_us")
            for name, setup in self._measured(results)
        }
        found |= {
            f"{name}: processor time for pages alone": self._share(results, name)
            for name in results.subjects(self.name)
        }
        return [
            Aim(f"{_PAGES} dashboards, {text}", statistics.median(values) if values else None, most=5, unit=" %")
            for text, values in found.items()
        ]

    def _measured(self, results: Results) -> list[tuple[str, str]]:
        return [(name, setup) for name in results.subjects(self.name) for setup in _JOBS]

    def _differences(self, results: Results, name: str, setup: str, field: str) -> list[float]:
        """Return by how many percent each drain with pages was above the one beside it without."""
        pairs = self._pairs(results, name, setup, field)
        return [(with_pages / without - 1) * 100 for without, with_pages in pairs]

    def _share(self, results: Results, name: str) -> list[float]:
        """Return what the server took more with pages, in percent of all without; of a server without a worker."""
        served, whole = (self._pairs(results, name, _APART, field) for field in ("served_us", "engine_us"))
        return [(after - before) / all_us * 100 for (before, after), (all_us, _) in zip(served, whole, strict=False)]

    def _pairs(self, results: Results, name: str, setup: str, field: str) -> list[tuple[float, float]]:
        closed, opened = (results.figures(self.name, f"{setup}, {each}", name, field) for each in (_CLOSED, _OPEN))
        return list(zip(closed, opened, strict=False))  # A failed drain has no figure.


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
        named = database if subject.store is Store.SQLITE else f"{database}?application_name={_NAME}"
        url, server = ending.enter_context(running_server(rig, named, *options, settings=settings))
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
        connected = 0.0 if subject.store is Store.SQLITE else _of_connections(database)
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
        serve_us = own.per_job(count)["worker_us"]
        values |= {"serve_us": serve_us, "database_us": used.get("server_us", 0.0), "served_us": serve_us}
        if subject.store is not Store.SQLITE:
            values["served_us"] += (_of_connections(database) - connected) / count * 1e6
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


def _of_connections(database: str) -> float:
    """Return the processor time that PostgreSQL's processes have spent for the server's connections, in seconds."""
    asked = f"SELECT array_agg(pid) FROM pg_stat_activity WHERE application_name = '{_NAME}'"
    return seconds(cast("list[int]", execute(database, asked) or []))


def _latest(log: Path) -> dict[str, float]:
    """Return the last whole line that the pages printed."""
    found: dict[str, float] = json.loads(log.read_text().rpartition("\n")[0].splitlines()[-1])
    return found
