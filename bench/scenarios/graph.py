"""The cost of a graph of many jobs: to enqueue in one call, and to run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import numbers
from bench.comparison import shown
from bench.drain import analyze, drain
from bench.gauge import MEGABYTE, Gauge
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject

_SMALL, _LARGE = 10_000, 100_000
_SIZES = {_SMALL: "10,000 jobs", _LARGE: "100,000 jobs"}
_FIELDS = ("enqueue_seconds", "rate", "first_fifth", "last_fifth")
_MEMORY = ("worker_mb", "client_mb")


class Graph:
    name = "graph"
    title = "Graph: one call that enqueues jobs of which each depends on four others, then one worker process"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [
            Step(subject.name, partial(_measure, rig, subject, size, measure))
            for subject in rig.ours()
            for size, measure in _SIZES.items()
        ]

    def tables(self, results: Results) -> list[Table]:
        head = ("jobs", "enqueued in s", "jobs/s worked", "first fifth", "last fifth", "worker MB", "client MB")
        shows = [numbers.milliseconds, *[numbers.rate] * 5]
        rows = [
            [measure]
            + [
                shown(results, self.name, (measure, (field,)), name, show)
                for field, show in zip((*_FIELDS, *_MEMORY), shows, strict=True)
            ]
            for name in results.subjects(self.name)
            for measure in _SIZES.values()
        ]
        notes = ["Memory is the peak of resident memory. The fifths are the first and the last fifth of the jobs."]
        return [Table(self.title, head, rows, notes)]

    def aims(self, results: Results) -> list[Aim]:
        (name,) = results.subjects(self.name)[:1] or [""]
        large = partial(results.figures, self.name, _SIZES[_LARGE], name)
        small = partial(results.figures, self.name, _SIZES[_SMALL], name)
        memory = numbers.ratio(large("worker_mb"), [1.0])
        return [
            Aim(
                "graph: seconds for 100,000 jobs ÷ for 10,000",
                numbers.ratio(large("enqueue_seconds"), small("enqueue_seconds")),
                most=12,
            ),
            Aim("graph: peak memory of the worker", memory, most=200, unit=" MB"),
            Aim("graph: rate of the last fifth ÷ first", numbers.ratio(large("last_fifth"), large("first_fifth")), 0.8),
        ]


def _measure(rig: Rig, subject: Subject, size: int, measure: str) -> Iterator[Measurement]:
    count = rig.options.in_proportion(size, _LARGE)
    gauge = Gauge()
    with rig.database(subject) as url:
        quiet = rig.quiet()
        stats = rig.client(subject, url, "graph", count)
        analyze(subject, url)
        drained = drain(rig, subject, url, count, 1, measure, on_poll=gauge.sample)
    instants = sorted(at for _, at in rig.marks.read())
    fifth = max(2, len(instants) // 5)
    values = drained.values | {
        "enqueue_seconds": stats.seconds,
        "first_fifth": _rate(instants[:fifth]),
        "last_fifth": _rate(instants[-fifth:]),
        "worker_mb": gauge.peak / MEGABYTE,
        "client_mb": stats.peak / MEGABYTE,
    }
    yield Measurement(measure, values, quiet)


def _rate(instants: list[int]) -> float:
    return (len(instants) - 1) / max(1, instants[-1] - instants[0]) * 1e9
