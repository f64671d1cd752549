"""`hanbeon verify` on a database with a long history: processor time and peak memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import processes
from bench.comparison import shown
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Subject

_EVENTS = 1_000_000
_TIMEOUT = 7_200.0
_AUDIT = "audit"
_EVENTS_OF_AIM, _MOST_SECONDS, _MOST_MEGABYTES = 10_000_000, 300, 300


class Verify:
    name = "verify"
    title = f"Verify: an audit of {_EVENTS:,} events (--jobs N for another number)"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        ours = [subject for subject in rig.subjects if subject.is_ours]
        return [Step(subject.name, partial(_measure, rig, subject)) for subject in ours]

    def tables(self, results: Results) -> list[Table]:
        figures = ("events", "jobs", "seconds", "processor", "peak")
        rows = [
            [name, *(shown(results, self.name, (_AUDIT, (figure,)), name) for figure in figures)]
            for name in results.subjects(self.name)
        ]
        return [Table(self.title, ("database", "events", "jobs", "s", "s of processor time", "peak MB"), rows)]

    def aims(self, results: Results) -> list[Aim]:
        aims = []
        for name in results.subjects(self.name):
            processor = results.figures(self.name, _AUDIT, name, "processor")
            events = results.figures(self.name, _AUDIT, name, "events")
            peak = results.figures(self.name, _AUDIT, name, "peak")
            scaled = min(processor) * _EVENTS_OF_AIM / max(events) if processor and events else None
            what = f"verify, {name}: processor time for {_EVENTS_OF_AIM:,} events"
            aims.append(Aim(what, scaled, most=_MOST_SECONDS, unit=" s"))
            aims.append(Aim(f"verify, {name}: peak", max(peak, default=None), most=_MOST_MEGABYTES, unit=" MB"))
        return aims


def _measure(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    events = rig.options.jobs or rig.options.scaled(_EVENTS)
    with rig.database(subject) as url:
        processes.report("bench.history", rig.environment(url), _TIMEOUT, url, events)
        quiet = rig.quiet()
        values = processes.report("bench.audit_load", rig.environment(url), _TIMEOUT)
    if values["findings"]:
        raise RuntimeError(f"the audit of {subject.name} found {values['findings']:.0f} errors")
    yield Measurement(_AUDIT, values, quiet)
