"""Growth under a steady load with pruning: sizes, dead rows, latency, memory."""

from __future__ import annotations

import statistics
from functools import partial
from typing import NamedTuple

from bench import numbers
from bench.records import Record, Results
from bench.rig import Rig
from bench.scenario import Aim, Step, Table
from bench.soak import BATCH, EVERY, soak

_MEASURE = "sample"


class _Column(NamedTuple):
    field: str
    head: str
    levels: bool = False
    """Expected to level off."""


_COLUMNS = (
    _Column("enqueued", "enqueued/s"),
    _Column("ran", "ran/s"),
    _Column("backlog", "backlog"),
    _Column("p50", "p50 ms", True),
    _Column("p99", "p99 ms", True),
    _Column("tables_mb", "tables MB", True),
    _Column("indexes_mb", "indexes MB", True),
    _Column("live", "live rows"),
    _Column("dead", "dead rows", True),
    _Column("memory_mb", "worker MB", True),
    _Column("cpu", "worker CPU %"),
)


class Soak:
    name = "soak"
    title = f"Soak: {BATCH / EVERY:,.0f} jobs a second, one worker process, by the minute"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(soak, rig, subject, _MEASURE)) for subject in rig.ours()]

    def tables(self, results: Results) -> list[Table]:
        minutes: dict[int, list[Record]] = {}
        for record in _samples(results):
            # A sample covers the seconds before it: the one at the full minute belongs to that minute.
            minutes.setdefault(int((record.values["at"] - 1) // 60) + 1, []).append(record)
        rows = [
            [str(minute)]
            + [f"{statistics.median(each.values[column.field] for each in found):,.0f}" for column in _COLUMNS]
            for minute, found in sorted(minutes.items())
        ]
        return [Table(self.title, ("minute", *(column.head for column in _COLUMNS)), rows, ["Medians of the samples."])]

    def aims(self, results: Results) -> list[Aim]:
        series = _samples(results)
        return [
            Aim(
                f"soak: {column.head}, last quarter ÷ second",
                numbers.levelled([record.values[column.field] for record in series]),
                most=1.2,
            )
            for column in _COLUMNS
            if column.levels
        ]


def _samples(results: Results) -> list[Record]:
    """Return the samples of the last repetition: a median over several would hide growth in one."""
    found = [each for each in results.records if each.scenario == Soak.name and each.measure == _MEASURE]
    return [each for each in found if each.rep == found[-1].rep]
