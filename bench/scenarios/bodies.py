"""The drain rate of tasks of each kind, beside that of a plain async task, and beside the peer that can do it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial

from bench import bodies, numbers
from bench.comparison import shown
from bench.drain import analyze, drain
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject, rival
from bench.table import SUBJECTS

_PEER = "pgqueuer-100"
_RATE = ("durable_rate", "rate")
_JOBS = {
    "plain async task": (bodies.PLAIN, 50_000),
    "waits 1 ms": ("wait_1ms", 50_000),
    "waits 20 ms": ("wait_20ms", 50_000),
    "with a context": (bodies.CONTEXT, 50_000),
    "with a timeout": (bodies.TIMEOUT, 50_000),
    "in a thread": (bodies.THREAD, 10_000),
    "in a limited queue": (bodies.LIMITED, 50_000),
}
_PLAIN, _SHORT_WAIT, _LONG_WAIT, _CONTEXT, _TIMEOUT, _THREAD, _LIMITED = _JOBS
_PEERS_TOO = (_PLAIN, _SHORT_WAIT, _LONG_WAIT)


class Bodies:
    name = "bodies"
    title = "Bodies: jobs per second of one worker process, by kind of task, from a full queue"
    by_default = False
    with_peers = True

    def steps(self, rig: Rig) -> list[Step]:
        return [
            Step(subject.name, partial(_measure, rig, subject, measure))
            for measure in _JOBS
            for subject in rig.subjects
            if subject.is_ours or (subject.name == _PEER and measure in _PEERS_TOO)
        ]

    def tables(self, results: Results) -> list[Table]:
        head = ("task", "queue", "jobs per second", "÷ plain", "ours ÷ it", "worker µs a job", "server µs a job")
        rows = []
        for measure in _JOBS:
            for name in results.subjects(self.name):
                found = results.figures(self.name, measure, name, *_RATE)
                if not found and not results.errors(self.name, measure, name):
                    continue
                plain = results.figures(self.name, _PLAIN, name, *_RATE)
                ours = results.figures(self.name, measure, rival(SUBJECTS[name]), *_RATE)
                rows.append(
                    [
                        measure,
                        name,
                        shown(results, self.name, (measure, _RATE), name),
                        numbers.times(numbers.ratio(found, plain)),
                        "" if SUBJECTS[name].is_ours else numbers.times(numbers.ratio(ours, found)),
                        *(shown(results, self.name, (measure, (field,)), name) for field in ("worker_us", "server_us")),
                    ]
                )
        notes = [
            "The limit is 900 running jobs, with a concurrency of 1,000. PgQueuer has no limit of concurrency here."
        ]
        return [Table(self.title, head, rows, notes)]

    def aims(self, results: Results) -> list[Aim]:
        wanted = [(_CONTEXT, 0.8), (_LIMITED, 0.6)]
        ours = [name for name in results.subjects(self.name) if SUBJECTS[name].is_ours]
        beside = [
            Aim(
                f"bodies, {measure}: ours ÷ {_PEER}",
                numbers.ratio(
                    results.figures(self.name, measure, rival(SUBJECTS[_PEER]), *_RATE),
                    results.figures(self.name, measure, _PEER, *_RATE),
                ),
                2,
                hoped=2.5,
            )
            for measure in (_SHORT_WAIT, _LONG_WAIT)
        ]
        return beside + [
            Aim(
                f"bodies on {SUBJECTS[name].store}, {measure} ÷ plain",
                numbers.ratio(
                    results.figures(self.name, measure, name, *_RATE),
                    results.figures(self.name, _PLAIN, name, *_RATE),
                ),
                least,
            )
            for name in ours
            for measure, least in wanted
        ]


def _measure(rig: Rig, subject: Subject, measure: str) -> Iterator[Measurement]:
    kind, jobs = _JOBS[measure]
    module = "ours_bodies" if subject.is_ours else subject.adapter
    subject = dataclasses.replace(subject, adapter=f"{module}:{kind}")
    count = rig.options.drained(jobs)
    with rig.database(subject) as url:
        rig.fill(subject, url, count)
        analyze(subject, url)
        yield drain(rig, subject, url, count, 1, measure)
