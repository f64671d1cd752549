"""Chains: operations per second of one worker, beside plain jobs in the same two processes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import numbers, processes
from bench.comparison import shown
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject

_CHAINS, _JOBS = 1_000, 40_000
_TIMEOUT = 600.0
_STEPS, _PLAIN = "operations of chains", "jobs in processes, after them"


class Chains:
    name = "chains"
    title = f"Chains: {_CHAINS:,} of ten jobs at once, one in ten undone, one worker with two processes"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(_measure, rig, subject)) for subject in rig.ours()]

    def tables(self, results: Results) -> list[Table]:
        (name,) = results.subjects(self.name)[:1] or [""]
        rows = [[each, shown(results, self.name, (each, ("rate",)), name)] for each in (_STEPS, _PLAIN)]
        return [Table(self.title, ("work", "a second"), rows)]

    def aims(self, results: Results) -> list[Aim]:
        (name,) = results.subjects(self.name)[:1] or [""]
        one, other = (results.figures(self.name, each, name, "rate") for each in (_STEPS, _PLAIN))
        return [Aim("chains: operations ÷ jobs in processes", numbers.ratio(one, other), least=1 / 3)]


def _measure(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count = rig.options.in_proportion(_CHAINS, _JOBS)
    with rig.database(subject) as url:
        quiet = rig.quiet()
        report = processes.report("bench.chain_load", rig.environment(url), _TIMEOUT, count)
    yield Measurement(_STEPS, {"chains": count, "rate": report["chains"]}, quiet)
    yield Measurement(_PLAIN, {"jobs": count * 10, "rate": report["processes"]}, quiet)
