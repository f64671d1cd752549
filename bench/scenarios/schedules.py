"""The cost of schedules: executions created per second beside bulk enqueue, idle polls, and the lateness of fires."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from bench import numbers, processes
from bench.comparison import shown
from bench.processes import ProgramError
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.seed_data import seed_schedules, settle_down
from bench.servers import connected
from bench.subjects import Subject
from hanbeon.domain.timing.fire_times import Timing
from hanbeon.surfaces.schedules.definition import Definition
from hanbeon.surfaces.schedules.misfire import Overlap

_JOBS = 40_000  # The base of `--jobs`: the other counts are reduced in proportion.
_MANY, _FEW, _DUE, _ROUNDS = 100_000, 100, 1_000, 5
_POLLS = 300
_FIRES, _EVERY = 200, 0.05
_WARM_UP, _TIMEOUT = 5, 120.0
_DAILY = Definition(timing=Timing(timezone="UTC", cron="0 0 * * *"))
_ALLOWING = Definition(timing=_DAILY.timing, overlap=Overlap.ALLOW)

_MADE, _BULK = "1,000 due, of 1,000 tasks", "bulk enqueue, 1,000 a call, in turns with it"
_MADE_OF_ONE, _BULK_OF_ONE = "1,000 due, of one task", "bulk enqueue, 1,000 a call, in turns with that"
_IDLE_MANY, _IDLE_FEW = "look at 100,000 idle", "look at 100 idle"
_LATENCY, _LATENESS = "enqueue to start", "due to start"


class Schedules:
    name = "schedules"
    title = "Schedules: executions made per second, one instance, of 100,000 schedules"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [
            Step(subject.name, partial(measure, rig, subject))
            for subject in rig.ours()
            for measure in (_fire_rate, _idle_polls, _start_latency)
        ]

    def tables(self, results: Results) -> list[Table]:
        return [
            self._table(
                results, self.title, ("executions", "a second"), (_MADE, _BULK, _MADE_OF_ONE, _BULK_OF_ONE), "rate"
            ),
            self._table(
                results, "Schedules: a poller's look when none is due", ("look", "ms"), (_IDLE_FEW, _IDLE_MANY), "ms"
            ),
            Table(
                f"Schedules: an idle worker, one job or fire each {_EVERY * 1000:.0f} ms, in ms",
                ("wait", "p50", "p95", "p99"),
                [
                    [measure, *(self._cell(results, measure, f"p{share}") for share in (50, 95, 99))]
                    for measure in (_LATENCY, _LATENESS)
                ],
            ),
        ]

    def _table(self, results: Results, title: str, head: Sequence[str], measures: Sequence[str], field: str) -> Table:
        return Table(title, head, [[each, self._cell(results, each, field)] for each in measures])

    def _cell(self, results: Results, measure: str, field: str) -> str:
        show = numbers.rate if field == "rate" else numbers.milliseconds
        (name,) = results.subjects(self.name)[:1] or [""]
        return shown(results, self.name, (measure, (field,)), name, show)

    def aims(self, results: Results) -> list[Aim]:
        (name,) = results.subjects(self.name)[:1] or [""]

        def share(measure: str, of: str, field: str) -> float | None:
            one, other = (results.figures(self.name, each, name, field) for each in (measure, of))
            return numbers.ratio(one, other)

        return [
            Aim("schedules: executions made ÷ bulk enqueue", share(_MADE, _BULK, "rate"), least=0.3),
            Aim("schedules: a look at 100,000 idle ÷ at 100", share(_IDLE_MANY, _IDLE_FEW, "ms"), most=1.5),
            Aim("schedules: due to start, p99 ÷ enqueue to start", share(_LATENESS, _LATENCY, "p99"), most=5),
        ]


def _program(rig: Rig, url: str, *arguments: object) -> dict[str, Any]:
    return processes.report("bench.schedule_load", rig.environment(url), _TIMEOUT, *arguments)


def _fire_rate(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count, due = rig.options.in_proportion(_MANY, _JOBS), rig.options.in_proportion(_DUE, _JOBS)
    for measure, beside, tasks, definition in (
        (_MADE, _BULK, due, _DAILY),
        (_MADE_OF_ONE, _BULK_OF_ONE, 1, _ALLOWING),
    ):
        with rig.database(subject) as url, connected(url) as query:
            seed_schedules(query, count, tasks, definition)
            settle_down(query)
            quiet = rig.quiet()
            report = _program(rig, url, "fire", rig.options.in_proportion(_ROUNDS, _JOBS), due)
        if set(report["made"]) != {due}:
            raise ProgramError(f"{report['made']} executions were created by {due} fires each time")
        for rate, bulk in zip(report["made_rate"], report["bulk_rate"], strict=True):
            yield Measurement(measure, {"made": due, "rate": rate}, quiet)
            yield Measurement(beside, {"jobs": due, "rate": bulk}, quiet)


def _idle_polls(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    for measure, count in ((_IDLE_FEW, _FEW), (_IDLE_MANY, rig.options.in_proportion(_MANY, _JOBS))):
        with rig.database(subject) as url, connected(url) as query:
            seed_schedules(query, count, 10, _DAILY)
            settle_down(query)
            quiet = rig.quiet()
            yield Measurement(measure, {"schedules": count, **_program(rig, url, "step", _POLLS)}, quiet)


def _start_latency(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count = rig.options.drained(_FIRES)
    with rig.database(subject) as url, rig.workers(subject, url, 1) as group:
        rig.client(subject, url, "enqueue", _WARM_UP)
        if not rig.marks.wait(_WARM_UP, _TIMEOUT, group.check):
            raise ProgramError(f"the worker did not run {_WARM_UP} jobs in {_TIMEOUT:.0f} s")
        time.sleep(1.0)  # So that the worker has finished its work after a job and is idle.
        for measure, load in (
            (_LATENCY, partial(rig.client, subject, url, "latency", count, _EVERY)),
            (_LATENESS, partial(_program, rig, url, "instants", count, _EVERY)),
        ):
            quiet = rig.quiet()
            rig.marks.clear()
            load()
            rig.marks.wait(count, _TIMEOUT, group.check)
            waits = [(began_at - due_at) / 1e6 for due_at, began_at in rig.marks.read()]
            values = {f"p{share}": numbers.percentile(waits, share / 100) for share in (50, 95, 99)}
            yield Measurement(measure, {"jobs": count, "ran": len(waits), **values, "max": max(waits)}, quiet)
