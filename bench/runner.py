"""Runs the steps of the chosen scenarios in turns and records the results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable

import apsw
from rich.console import Console

from bench import machine
from bench.environments import InstallError, prepare
from bench.options import Options
from bench.records import Context, Record, Results, now
from bench.rig import Rig
from bench.scenario import Measurement, Scenario
from bench.subjects import Subject


class Run:
    """One run; `results` is consistent at every moment, also after Ctrl-C."""

    def __init__(self, options: Options, scenarios: list[Scenario], subjects: list[Subject], console: Console) -> None:
        self._options, self._scenarios, self._subjects, self._console = options, scenarios, subjects, console
        self.results = Results(
            context=Context(
                began_at=now(),
                command=shlex.join(["python", "-m", "bench", *sys.argv[1:]]),
                machine=machine.describe(),
                versions={"Python": sys.version.split()[0], "SQLite": apsw.sqlite_lib_version()},
            ),
            records=[],
        )

    def measure(self) -> None:
        ready = self._prepare()
        with Rig(self._options, ready) as rig:
            try:
                for rep in range(1, self._options.reps + 1):
                    for scenario in self._scenarios:
                        self._repeat(rig, scenario, rep)
            finally:
                self.results.context.versions.update(rig.servers.versions())

    def _prepare(self) -> list[Subject]:
        """Install all environments before measuring, and return the subjects that can be measured."""
        versions: dict[str, dict[str, str] | InstallError] = {}
        ready = []
        for subject in self._subjects:
            name = subject.environment
            if name not in versions:
                with self._console.status(f"installing {name}"):
                    try:
                        versions[name] = prepare(name)
                    except InstallError as error:
                        versions[name] = error
            found = versions[name]
            if isinstance(found, InstallError):
                for scenario in self._scenarios:
                    self._record(
                        Record(scenario=scenario.name, measure="", subject=subject.name, rep=0, error=str(found))
                    )
            else:
                self.results.context.versions.update(found)
                ready.append(subject)
        return ready

    def _repeat(self, rig: Rig, scenario: Scenario, rep: int) -> None:
        steps = scenario.steps(rig)
        # Each repetition starts with another subject, so that an expensive one has a different successor.
        first = (rep - 1) % max(1, len(steps))
        steps = steps[first:] + steps[:first]
        for number, step in enumerate(steps, start=1):
            where = f"{rep}/{self._options.reps} {scenario.name} {number}/{len(steps)} {step.subject}"
            with self._console.status(where):
                try:
                    self._take(step.run(), scenario.name, step.subject, rep)
                except Exception as error:  # Any error: the other subjects are measured all the same.
                    self._record(
                        Record(
                            scenario=scenario.name,
                            measure="",
                            subject=step.subject,
                            rep=rep,
                            at=now(),
                            error=str(error) or type(error).__name__,
                        )
                    )

    def _take(self, measurements: Iterable[Measurement], scenario: str, subject: str, rep: int) -> None:
        for each in measurements:
            self._record(
                Record(
                    scenario=scenario,
                    measure=each.measure,
                    subject=subject,
                    rep=rep,
                    values={name: round(float(value), 4) for name, value in each.values.items()},
                    at=now(),
                    load=each.quiet.load,
                    idle=each.quiet.idle,
                )
            )

    def _record(self, record: Record) -> None:
        self.results.records.append(record)
        where = f"{record.rep} {record.scenario:8} {record.subject:17} {record.measure:17}"
        figures = "  ".join(f"{name} {_digits(value)}" for name, value in record.values.items())
        outcome = figures if record.error is None else f"failed: {record.error}"
        self._console.print(f"{where} {outcome}", highlight=False, markup=False, soft_wrap=True)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
