"""Stream tasks: the way to a worker over Redis, and jobs per second of two workers, beside taskiq's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import numbers, processes
from bench.comparison import Figure, shown
from bench.processes import ProgramError
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Store, Subject

_JOBS = 20_000
_DRAINED = 40_000
_TIMEOUT = 600.0
_WORKERS, _WARM_UP = 2, 50
_PEER = "taskiq-redis"
_WIRE, _ENGINE = "to a stream worker, ms", "to a task in the same process, ms"
_WAITS = (_WIRE, _ENGINE)
_RATE: Figure = (f"no-op jobs a second, {_WORKERS} workers", ("value",))


class Streams:
    name = "streams"
    title = f"Stream tasks: two workers over Redis; the wait of one job at a time, and {_JOBS:,} at once"
    by_default = True
    with_peers = True

    def steps(self, rig: Rig) -> list[Step]:
        ours = [Step(subject.name, partial(_measure, rig, subject)) for subject in rig.ours()]
        peers = [each for each in rig.subjects if each.name == _PEER]
        return ours + [Step(subject.name, partial(_measure_peer, rig, subject)) for subject in peers]

    def tables(self, results: Results) -> list[Table]:
        names = results.subjects(self.name)
        rows = [
            [
                name,
                *(shown(results, self.name, (each, ("value",)), name, numbers.milliseconds) for each in _WAITS),
                shown(results, self.name, _RATE, name),
            ]
            for name in names
        ]
        note = (
            "Jobs a second from the first enqueue, by one process, until the database records the last end (ours) or "
            "the last job runs (taskiq, which records none)."
        )
        return [Table(self.title, ("queue", *_WAITS, _RATE[0]), rows, [note])]

    def aims(self, results: Results) -> list[Aim]:
        names = [name for name in results.subjects(self.name) if name != _PEER]
        name = names[0] if names else ""
        wire, engine = (results.figures(self.name, each, name, "value") for each in _WAITS)
        ours, theirs = (results.figures(self.name, _RATE[0], each, "value") for each in (name, _PEER))
        return [
            Aim("stream round trip ÷ the engine's enqueue to start, p50", numbers.ratio(wire, engine), most=3),
            Aim("stream jobs, 2 workers: ours ÷ taskiq on Redis Streams", numbers.ratio(ours, theirs), least=1),
        ]


def _measure(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count = rig.options.in_proportion(_JOBS, _DRAINED)
    with rig.database(subject) as url, rig.servers.database(Store.REDIS) as redis:
        quiet = rig.quiet()
        environment = {**rig.environment(url), "BENCH_REDIS": redis}
        report = processes.report("bench.stream_load", environment, _TIMEOUT, count)
    yield Measurement(_WIRE, {"value": report["stream_p50"]}, quiet)
    yield Measurement(_ENGINE, {"value": report["engine_p50"]}, quiet)
    yield Measurement(_RATE[0], {"jobs": count, "value": report["rate"]}, quiet)


def _measure_peer(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    """Enqueue while two processes work, as ours do; a job's mark holds the instant before its enqueue."""
    count = rig.options.in_proportion(_JOBS, _DRAINED)
    with rig.database(subject) as url:
        quiet = rig.quiet()
        with rig.workers(subject, url, _WORKERS) as group:
            for jobs in (_WARM_UP, count):
                rig.marks.clear()
                rig.client(subject, url, "latency", jobs, 0)
                if not rig.marks.wait(jobs, _TIMEOUT, group.check):
                    raise ProgramError(f"{rig.marks.count()} of {jobs} jobs ran in {_TIMEOUT:.0f} s")
            marks = rig.marks.read()
    seconds = (max(at for _, at in marks) - min(sent_at for sent_at, _ in marks)) / 1e9
    yield Measurement(_RATE[0], {"jobs": count, "value": count / seconds}, quiet)
