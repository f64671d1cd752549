"""Rendering: seconds of video per second, on one core."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median

from bench import processes
from bench.comparison import shown
from bench.numbers import milliseconds
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject

_TIMES = 3
_TIMEOUT = 300.0
_CLOCK, _PROCESSOR = "by the clock", "of processor time"


class Rendering:
    name = "rendering"
    title = "Rendering of a replay of 20 s at 720p30: seconds of video in a second, on one core"
    by_default = True
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(_measure, rig, subject)) for subject in rig.ours()]

    def tables(self, results: Results) -> list[Table]:
        (name,) = results.subjects(self.name)[:1] or [""]
        rows = [[each, shown(results, self.name, (each, ("rate",)), name, milliseconds)] for each in _MEASURES]
        return [Table(self.title, ("measure", "times real time"), rows)]

    def aims(self, results: Results) -> list[Aim]:
        (name,) = results.subjects(self.name)[:1] or [""]
        rates = results.figures(self.name, _CLOCK, name, "rate")
        return [Aim("rendering at 720p30 ÷ real time, one core", median(rates) if rates else None, least=3)]


_MEASURES = (_CLOCK, _PROCESSOR)


def _measure(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    quiet = rig.quiet()
    report = processes.report("bench.render_load", rig.environment(""), _TIMEOUT, rig.options.scaled(_TIMES))
    yield Measurement(_CLOCK, {"rate": report["video"] / report["clock"]}, quiet)
    yield Measurement(_PROCESSOR, {"rate": report["video"] / report["processor"]}, quiet)
