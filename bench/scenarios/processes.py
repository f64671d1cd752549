"""Tasks in killable processes: two warm processes of ours beside Celery's two."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial

from bench import numbers
from bench.comparison import Figure, shown
from bench.drain import analyze, drain
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject

_PROCESSES = 2
_CONCURRENCY = 100  # Jobs that the worker holds; the processes share them.
_JOBS = 8_000
_PEER = "celery"
_FIGURE: Figure = (f"1 worker with {_PROCESSES} processes", ("durable_rate", "rate"))


class Processes:
    name = "processes"
    title = f"Processes: jobs per second of one worker with {_PROCESSES} warm processes"
    by_default = True
    with_peers = True

    def steps(self, rig: Rig) -> list[Step]:
        subjects = [_in_processes(each) for each in rig.ours()] + [each for each in rig.subjects if each.name == _PEER]
        return [Step(subject.name, partial(_measure, rig, subject)) for subject in subjects]

    def tables(self, results: Results) -> list[Table]:
        rows = [[name, shown(results, self.name, _FIGURE, name)] for name in results.subjects(self.name)]
        return [Table(self.title, ("queue", "jobs per second"), rows)]

    def aims(self, results: Results) -> list[Aim]:
        measure, fields = _FIGURE
        names = [name for name in results.subjects(self.name) if name != _PEER]
        ours = results.figures(self.name, measure, names[0], *fields) if names else []
        ratio = numbers.ratio(ours, results.figures(self.name, measure, _PEER, *fields))
        return [Aim(f"{_PROCESSES} processes: ours ÷ Celery's prefork", ratio, 2, hoped=3)]


def _in_processes(ours: Subject) -> Subject:
    return dataclasses.replace(
        ours, name=f"{ours.name}-processes", adapter="ours_processes", setting=_CONCURRENCY, jobs=_JOBS
    )


def _measure(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count = rig.options.drained(subject.jobs)
    with rig.database(subject) as url:
        rig.fill(subject, url, count)
        analyze(subject, url)
        yield drain(rig, subject, url, count, 1, _FIGURE[0])
