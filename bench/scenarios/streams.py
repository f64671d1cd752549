"""Stream tasks: the way to a worker over Redis, and jobs per second of two workers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import numbers, processes
from bench.comparison import shown
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Store, Subject

_JOBS = 20_000
_DRAINED = 40_000
_TIMEOUT = 600.0
_WIRE, _ENGINE, _RATE = "to a stream worker, ms", "to a task in the same process, ms", "no-op jobs a second"


class Streams:
    name = "streams"
    title = f"Stream tasks: two workers over Redis; the wait of one job at a time, and {_JOBS:,} at once"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(_measure, rig, subject)) for subject in rig.ours()]

    def tables(self, results: Results) -> list[Table]:
        (name,) = results.subjects(self.name)[:1] or [""]
        rows = [[each, shown(results, self.name, (each, ("value",)), name)] for each in (_WIRE, _ENGINE, _RATE)]
        return [Table(self.title, ("measure", "value"), rows)]

    def aims(self, results: Results) -> list[Aim]:
        (name,) = results.subjects(self.name)[:1] or [""]
        one, other = (results.figures(self.name, each, name, "value") for each in (_WIRE, _ENGINE))
        return [Aim("stream round trip ÷ the engine's enqueue to start, p50", numbers.ratio(one, other), most=3)]


def _measure(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count = rig.options.in_proportion(_JOBS, _DRAINED)
    with rig.database(subject) as url, rig.servers.database(Store.REDIS) as redis:
        quiet = rig.quiet()
        environment = {**rig.environment(url), "BENCH_REDIS": redis}
        report = processes.report("bench.stream_load", environment, _TIMEOUT, count)
    yield Measurement(_WIRE, {"value": report["stream_p50"]}, quiet)
    yield Measurement(_ENGINE, {"value": report["engine_p50"]}, quiet)
    yield Measurement(_RATE, {"jobs": count, "value": report["rate"]}, quiet)
