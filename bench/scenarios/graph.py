"""The cost of a graph of many jobs: to enqueue in one call, and to run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from bench import numbers
from bench.comparison import shown
from bench.drain import analyze, drain
from bench.gauge import MEGABYTE, Gauge
from bench.package_graph import EDGES, JOBS
from bench.processes import ProgramError
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject
from bench.table import SUBJECTS

_SMALL, _LARGE = 10_000, 100_000
_SIZES = {_SMALL: "10,000 jobs", _LARGE: "100,000 jobs"}
_FIELDS = ("enqueue_seconds", "rate", "first_fifth", "last_fifth")
_MEMORY = ("worker_mb", "client_mb")
_PACKAGES = f"{JOBS:,} jobs, {EDGES:,} edges"
_PLAIN = "as many that wait for nothing"
_GAP = "end of a job to the start of its dependent"
_LINKS, _WARM_UP = 300, 50
_RATE = ("durable_rate", "rate")
_TIMEOUT = 60.0


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
        ] + [
            Step(subject.name, partial(situation, rig, subject))
            for subject in rig.subjects
            if subject.is_ours
            for situation in (_measure_packages, _measure_gap)
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
            for name in results.subjects(self.name)[:1]
            for measure in _SIZES.values()
        ]
        notes = ["Memory is the peak of resident memory. The fifths are the first and the last fifth of the jobs."]
        return [Table(self.title, head, rows, notes), _packages_table(results), _gap_table(results)]

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
            *(
                Aim(f"graph of {_PACKAGES} on {SUBJECTS[each].store} ÷ plain", _share(results, each), 0.3, hoped=0.4)
                for each in results.subjects(self.name)
            ),
            *(
                Aim(
                    f"graph on {SUBJECTS[each].store}: {_GAP}, p50",
                    numbers.ratio(results.figures(self.name, _GAP, each, "p50"), [1.0]),
                    most=5,
                    unit=" ms",
                )
                for each in results.subjects(self.name)
            ),
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


def _measure_packages(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count = rig.options.in_proportion(JOBS, JOBS)
    for measure, command in ((_PLAIN, "bulk"), (_PACKAGES, "packages")):
        with rig.database(subject) as url:
            seconds = rig.client(subject, url, command, count).seconds
            analyze(subject, url)
            drained = drain(rig, subject, url, count, 1, measure)
        yield Measurement(measure, drained.values | {"enqueue_seconds": seconds}, drained.quiet)


def _measure_gap(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    """Measure a chain on an idle worker. A body takes microseconds, so from start to start is the gap."""
    count = rig.options.scaled(_LINKS)
    with rig.database(subject) as url, rig.workers(subject, url, 1) as group:
        rig.client(subject, url, "chain", _WARM_UP)
        if not rig.marks.wait(_WARM_UP, _TIMEOUT, group.check):
            raise ProgramError(f"the worker did not run {_WARM_UP} jobs in {_TIMEOUT:.0f} s")
        quiet = rig.quiet()
        rig.marks.clear()
        rig.client(subject, url, "chain", count)
        if not rig.marks.wait(count, _TIMEOUT, group.check):
            raise ProgramError(f"the worker did not run {count} jobs in {_TIMEOUT:.0f} s")
    instants = [at for _, at in rig.marks.read()]
    gaps = [(after - before) / 1e6 for before, after in pairwise(instants)]
    values = {f"p{share}": numbers.percentile(gaps, share / 100) for share in (50, 95, 99)}
    yield Measurement(_GAP, {"jobs": count, **values}, quiet)


def _packages_table(results: Results) -> Table:
    head = ("queue", "jobs", "enqueued in s", "jobs/s worked", "÷ plain", "worker µs a job", "server µs a job")
    fields = (("enqueue_seconds",), _RATE, ("worker_us",), ("server_us",))
    rows = []
    for name in results.subjects(Graph.name):
        for measure in (_PLAIN, _PACKAGES):
            row = [name, measure, *(shown(results, Graph.name, (measure, each), name) for each in fields)]
            row[2] = shown(results, Graph.name, (measure, fields[0]), name, numbers.milliseconds)
            row.insert(4, numbers.times(_share(results, name)) if measure == _PACKAGES else "")
            rows.append(row)
    notes = ["Generated in the shape of a package archive: one job has 23,000 dependents, and there are 50 layers."]
    return Table("Graph in the shape of a package archive, one worker process", head, rows, notes)


def _gap_table(results: Results) -> Table:
    rows = [
        [name]
        + [shown(results, Graph.name, (_GAP, (field,)), name, numbers.milliseconds) for field in ("p50", "p95", "p99")]
        for name in results.subjects(Graph.name)
    ]
    return Table(f"Graph: {_GAP} in ms, idle worker, a chain", ("queue", "p50", "p95", "p99"), rows)


def _share(results: Results, name: str) -> float | None:
    graph, plain = (results.figures(Graph.name, measure, name, *_RATE) for measure in (_PACKAGES, _PLAIN))
    return numbers.ratio(graph, plain)


def _rate(instants: list[int]) -> float:
    return (len(instants) - 1) / max(1, instants[-1] - instants[0]) * 1e9
