"""Bulk moves of an operator: how long other jobs wait meanwhile, beside an idle worker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import numbers, processes
from bench.comparison import shown
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject

_JOBS = 100_000
_TIMEOUT = 600.0
_IDLE, _BUSY = "idle worker", "during bulk moves"


class Bulk:
    name = "bulk"
    title = f"Bulk: enqueue to start in ms while {_JOBS:,} other jobs are cancelled and retried over and over"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        ours = [subject for subject in rig.subjects if subject.is_ours]
        return [Step(subject.name, partial(_measure, rig, subject)) for subject in ours]

    def tables(self, results: Results) -> list[Table]:
        rows = [
            [
                name,
                *(shown(results, self.name, (each, (p,)), name) for each in (_IDLE, _BUSY) for p in ("p50", "p99")),
                shown(results, self.name, (_BUSY, ("rate",)), name),
            ]
            for name in results.subjects(self.name)
        ]
        head = ("queue", "idle p50", "idle p99", "meanwhile p50", "meanwhile p99", "moved a second")
        return [Table(self.title, head, rows)]

    def aims(self, results: Results) -> list[Aim]:
        return [
            Aim(
                f"bulk moves, {name}: p99 of enqueue to start ÷ idle",
                numbers.ratio(
                    results.figures(self.name, _BUSY, name, "p99"), results.figures(self.name, _IDLE, name, "p99")
                ),
                most=5,
            )
            for name in results.subjects(self.name)
        ]


def _measure(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count = rig.options.jobs or rig.options.scaled(_JOBS)
    with rig.database(subject) as url:
        quiet = rig.quiet()
        report = processes.report("bench.bulk_load", rig.environment(url), _TIMEOUT, count)
    yield Measurement(_IDLE, {"p50": report["idle_p50"], "p99": report["idle_p99"]}, quiet)
    values = {"jobs": count, "p50": report["busy_p50"], "p99": report["busy_p99"], "rate": report["rate"]}
    yield Measurement(_BUSY, values, quiet)
