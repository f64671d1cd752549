"""The enqueue rate of one client: one job per call, and a thousand per call."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.comparison import Figure, against, against_all, compare
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Store, Subject

_ONE: Figure = ("one by one", ("rate",))
_BULK: Figure = ("bulk", ("rate",))


class Enqueue:
    """Jobs per second of one client."""

    name = "enqueue"
    title = "Enqueue: jobs per second, one client"
    by_default = True
    with_peers = True

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(self._measure, rig, subject)) for subject in rig.subjects]

    def _measure(self, rig: Rig, subject: Subject) -> Iterator[Measurement]:
        count = rig.options.drained(subject.jobs)
        yield self._timed(rig, subject, _ONE[0], "enqueue", min(count, rig.options.scaled(subject.singles)))
        if subject.bulk:
            yield self._timed(rig, subject, _BULK[0], "bulk", count)

    def _timed(self, rig: Rig, subject: Subject, measure: str, command: str, count: int) -> Measurement:
        with rig.database(subject) as url:
            quiet = rig.quiet()
            seconds = rig.client(subject, url, command, count).seconds
        return Measurement(measure, {"jobs": count, "seconds": seconds, "rate": count / seconds}, quiet)

    def tables(self, results: Results) -> list[Table]:
        head = ("queue", "one by one", "ours ÷ it", "bulk, 1000 a call", "ours ÷ it")
        notes = ["Bulk: the queue's own call for many jobs; a dash where none was used."]
        return [Table(self.title, head, compare(results, self.name, (_ONE, _BULK)), notes)]

    def aims(self, results: Results) -> list[Aim]:
        return [
            Aim("bulk enqueue: ours ÷ pgqueuer", against(results, self.name, _BULK, "pgqueuer-100"), 1, hoped=1.5),
            Aim(
                "single enqueue: ours ÷ the fastest on PostgreSQL",
                against_all(results, self.name, _ONE, Store.POSTGRES),
                1,
                hoped=1.3,
            ),
            Aim("single enqueue on SQLite: ours ÷ huey-sqlite", against(results, self.name, _ONE, "huey-sqlite"), 0.5),
        ]
