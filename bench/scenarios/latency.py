"""Latency with an idle worker: from just before the enqueue call to the first line of the job's body."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from functools import partial

from bench import numbers
from bench.comparison import Figure, against, compare
from bench.processes import ProgramError
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject

_JOBS, _EVERY = 200, 0.05
_WARM_UP = 5
_TIMEOUT = 60.0
_MEASURE = "idle worker"
_FIGURES: list[Figure] = [(_MEASURE, (name,)) for name in ("p50", "p95", "p99")]


class Latency:
    """Percentiles of the time from enqueue to start."""

    name = "latency"
    title = f"Latency: enqueue to start in ms, idle worker, one job each {_EVERY * 1000:.0f} ms"
    by_default = True
    with_peers = True

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(self._measure, rig, subject)) for subject in rig.subjects]

    def _measure(self, rig: Rig, subject: Subject) -> Iterator[Measurement]:
        yield waits_of(rig, subject)

    def tables(self, results: Results) -> list[Table]:
        head = ("queue", "p50", "ours ÷ it", "p95", "ours ÷ it", "p99", "ours ÷ it")
        return [Table(self.title, head, compare(results, self.name, _FIGURES, numbers.milliseconds))]

    def aims(self, results: Results) -> list[Aim]:
        sqlite = results.figures(self.name, _MEASURE, "hanbeon-sqlite", "p50")
        return [
            Aim(
                "latency p50: ours ÷ pgqueuer's",
                against(results, self.name, _FIGURES[0], "pgqueuer-100"),
                most=1,
            ),
            Aim("latency p50 on SQLite", statistics.median(sqlite) if sqlite else None, most=5, unit=" ms"),
        ]


def waits_of(rig: Rig, subject: Subject) -> Measurement:
    """Measure how long jobs wait for the subject's idle worker."""
    count = rig.options.scaled(_JOBS)
    with rig.database(subject) as url, rig.workers(subject, url, 1) as group:
        rig.client(subject, url, "enqueue", _WARM_UP)
        if not rig.marks.wait(_WARM_UP, _TIMEOUT, group.check):
            raise ProgramError(f"the worker did not run {_WARM_UP} jobs in {_TIMEOUT:.0f} s")
        time.sleep(1.0)  # So that the worker has finished its work after a job and is idle.
        quiet = rig.quiet()
        rig.marks.clear()
        rig.client(subject, url, "latency", count, _EVERY)
        rig.marks.wait(count, _TIMEOUT, group.check)
        waits = [(began_at - enqueued_at) / 1e6 for enqueued_at, began_at in rig.marks.read()]
    values = {f"p{share}": numbers.percentile(waits, share / 100) for share in (50, 95, 99)}
    return Measurement(_MEASURE, {"jobs": count, "ran": len(waits), **values, "max": max(waits)}, quiet)
