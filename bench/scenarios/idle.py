"""The cost of an idle worker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from bench import numbers
from bench.comparison import shown
from bench.gauge import MEGABYTE, Gauge
from bench.processes import ProgramError
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.servers import connected
from bench.subjects import Subject

_MEASURE = "idle worker"
_SECONDS, _SHORT_SECONDS = 20.0, 10.0
# A session reports its transactions up to ten seconds late: those of the start must not be counted.
_SETTLING = 12.0
_WARM_UP, _TIMEOUT = 5, 60.0
_TRANSACTIONS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '{name}'"


class Idle:
    name = "idle"
    title = "Idle: what one worker process takes while there is nothing to do"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(_measure, rig, subject)) for subject in rig.ours()]

    def tables(self, results: Results) -> list[Table]:
        figures = (("cpu", numbers.milliseconds), ("transactions", numbers.milliseconds), ("memory", numbers.rate))
        rows = [
            [name, *(shown(results, self.name, (_MEASURE, (field,)), name, show) for field, show in figures)]
            for name in results.subjects(self.name)
        ]
        return [Table(self.title, ("worker", "% of a core", "transactions/s", "MB"), rows)]

    def aims(self, results: Results) -> list[Aim]:
        (name,) = results.subjects(self.name)[:1] or [""]
        cpu, transactions = (
            numbers.ratio(results.figures(self.name, _MEASURE, name, field), [1.0]) for field in ("cpu", "transactions")
        )
        return [
            Aim("idle worker: share of a core", cpu, most=1, unit=" %"),
            Aim("idle worker: transactions", transactions, most=1, unit=" a second"),
        ]


def _measure(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    seconds = _SHORT_SECONDS if rig.options.short else _SECONDS
    gauge = Gauge()
    # Queried in another database, so that the query itself is not counted.
    elsewhere = rig.servers.postgres().url("postgres")
    with rig.database(subject) as url, rig.workers(subject, url, 1) as group, connected(elsewhere) as query:
        count = _TRANSACTIONS.format(name=url.rpartition("/")[2])
        rig.client(subject, url, "enqueue", _WARM_UP)
        if not rig.marks.wait(_WARM_UP, _TIMEOUT, group.check):
            raise ProgramError(f"the worker did not run {_WARM_UP} jobs in {_TIMEOUT:.0f} s")
        time.sleep(_SETTLING)
        quiet = rig.quiet()
        gauge.cpu(group)
        before, began_at = query(count), time.perf_counter()
        time.sleep(seconds)
        cpu, after, took = gauge.cpu(group), query(count), time.perf_counter() - began_at
    assert isinstance(before, int)
    assert isinstance(after, int)
    values = {
        "seconds": took,
        "cpu": cpu * 100,
        "transactions": (after - before) / took,
        "memory": gauge.peak / MEGABYTE,
    }
    yield Measurement(_MEASURE, values, quiet)
