"""The rate at which one and two worker processes drain a full queue of trivial jobs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import numbers
from bench.comparison import Figure, against, against_all, compare, shown
from bench.drain import analyze, drain
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.subjects import Store, Subject

_BEST = ("durable_rate", "rate")
ONE: Figure = ("1 worker", _BEST)
TWO: Figure = ("2 workers", _BEST)
_FRESH = ("1 worker, fresh", "2 workers, fresh")


class Drain:
    """Jobs per second from a full queue."""

    name = "drain"
    title = "Drain: jobs per second, from a full queue"
    by_default = True
    with_peers = True

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(self._measure, rig, subject)) for subject in rig.subjects]

    def _measure(self, rig: Rig, subject: Subject) -> Iterator[Measurement]:
        count = rig.options.drained(subject.jobs)
        for workers, (measure, _), fresh in ((1, ONE, _FRESH[0]), (2, TWO, _FRESH[1])):
            for analyzed in (True, False):
                if not analyzed and (subject.store is not Store.POSTGRES or rig.options.short):
                    continue
                with rig.database(subject) as url:
                    rig.fill(subject, url, count)
                    if analyzed:
                        analyze(subject, url)
                    yield drain(rig, subject, url, count, workers, measure if analyzed else fresh)

    def tables(self, results: Results) -> list[Table]:
        names = results.subjects(self.name)
        head = ("queue", "worker", "1 process", "ours ÷ it", "2 processes", "ours ÷ it", "2 ÷ 1")
        rows = compare(results, self.name, (ONE, TWO), notes=True)
        for row in rows:
            one, two = (results.figures(self.name, measure, row[0], *_BEST) for measure, _ in (ONE, TWO))
            row.append(numbers.times(numbers.ratio(two, one)))
        tables = [Table(self.title, head, rows, self._notes(results))]
        fresh = [(measure, _BEST) for measure in _FRESH]
        if any(results.figures(self.name, measure, name, *_BEST) for measure, _ in fresh for name in names):
            found = [row for row in compare(results, self.name, fresh) if row[1] != "–" or row[3] != "–"]
            tables.append(Table("Drain of tables just filled, without statistics", (head[0], *head[2:-1]), found))
        if any(results.figures(self.name, ONE[0], name, "worker_us") for name in names):
            tables.append(_processor_time(results))
        return tables

    def _notes(self, results: Results) -> list[str]:
        twice = {
            record.subject: int(record.values["duplicates"])
            for record in results.records
            if record.scenario == self.name and record.values.get("duplicates")
        }
        listed = ", ".join(f"{name} ({count})" for name, count in twice.items())
        return [
            "PostgreSQL peers and Hanbeon: until their own tables record every job as finished; the others: until the "
            "last job ran. PostgreSQL's tables were given `VACUUM ANALYZE` after the fill.",
            f"Jobs that ran more than once: {listed or 'none'}.",
        ]

    def aims(self, results: Results) -> list[Aim]:
        return [
            Aim(
                "drain, 1 process: ours ÷ pgqueuer-100", against(results, self.name, ONE, "pgqueuer-100"), 3, hoped=3.5
            ),
            Aim(
                "drain, 2 processes: ours ÷ pgqueuer-100",
                against(results, self.name, TWO, "pgqueuer-100"),
                2,
                hoped=2.5,
            ),
            Aim("drain, 1 process: ours ÷ the fastest on Redis", against_all(results, self.name, ONE, Store.REDIS), 1),
            Aim(
                "drain, 2 processes: ours ÷ the fastest on Redis", against_all(results, self.name, TWO, Store.REDIS), 1
            ),
            Aim("drain on SQLite: ours ÷ huey-sqlite", against(results, self.name, ONE, "huey-sqlite"), 10, hoped=15),
        ]


def _processor_time(results: Results) -> Table:
    head = ("queue", "1 process: worker", "server", "2 processes: workers", "server")
    rows = [
        [name]
        + [
            shown(results, Drain.name, (measure, (field,)), name)
            for measure, _ in (ONE, TWO)
            for field in ("worker_us", "server_us")
        ]
        for name in results.subjects(Drain.name)
    ]
    notes = ["Much more than in another run of the same code: the machine was busy, and its rates mean little."]
    return Table("Drain: processor time in µs a job", head, rows, notes)
