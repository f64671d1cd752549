"""The rate of a drain with much other data in the tables, relative to a fresh database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

from bench import numbers
from bench.comparison import shown
from bench.drain import drain
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.seed_data import Query, SeedJobs, hold_one, seed, settle_down
from bench.servers import connected
from bench.subjects import Subject
from hanbeon.domain.limits import QueueLimits

_JOBS, _EXTRA, _OFFICES = 40_000, 1_000_000, 10_000
_OFFICE = QueueLimits(max_concurrent=3, roles={"writer": 2, "reader": 1})

_BASE = "fresh, analyzed"
_FULL = "1M finished, 1M queued"
_UNKNOWN = "just filled, no ANALYZE"
_STUCK = "1M each limited, paused, unknown"
_HELD = "snapshot held open"
_AMONG = "10,000 limited queues"


class Flat:
    name = "flat"
    title = "Flat: jobs per second of one worker process, and the share of a fresh database's"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        # The base is measured first and last: filling the tables takes minutes, and the machine may change meanwhile.
        measures: list[tuple[str, Callable[..., Measurement]]] = [
            (_BASE, _fresh),
            (_FULL, _full),
            (_UNKNOWN, partial(_fresh, analyzed=False)),
            (_STUCK, _stuck),
            (_HELD, partial(_fresh, held=True)),
            (_AMONG, _among),
            (_BASE, _fresh),
        ]
        return [
            Step(subject.name, partial(_measure, rig, subject, measure, situation))
            for subject in rig.ours()
            for measure, situation in measures
        ]

    def tables(self, results: Results) -> list[Table]:
        rows = []
        for name in results.subjects(self.name):
            base = results.figures(self.name, _BASE, name, "rate")
            for measure in (_BASE, _FULL, _UNKNOWN, _STUCK, _HELD, _AMONG):
                found = results.figures(self.name, measure, name, "rate")
                rate = shown(results, self.name, (measure, ("rate",)), name)
                rows.append([measure, rate, numbers.times(numbers.ratio(found, base))])
        notes = ["From the first execution to the last. `--jobs` and `--short` reduce the other data, too."]
        return [Table(self.title, ("tables", "rate", "÷ fresh"), rows, notes)]

    def aims(self, results: Results) -> list[Aim]:
        wanted = {
            _FULL: (0.9, None),
            _UNKNOWN: (0.8, None),
            _STUCK: (0.9, None),
            _HELD: (0.5, 0.8),
            _AMONG: (0.5, None),
        }
        return [
            Aim(f"flat: {measure} ÷ fresh", _share(results, name, measure), least, hoped=hoped)
            for name in results.subjects(self.name)
            for measure, (least, hoped) in wanted.items()
        ]


def _share(results: Results, subject: str, measure: str) -> float | None:
    found, base = (results.figures(Flat.name, each, subject, "rate") for each in (measure, _BASE))
    return numbers.ratio(found, base)


def _measure(rig: Rig, subject: Subject, measure: str, situation: Callable[..., Measurement]) -> Iterator[Measurement]:
    with rig.database(subject) as url, connected(url) as query:
        first = partial(drain, rig, subject, url, rig.options.drained(_JOBS), 1, measure, some=True)
        yield situation(rig, subject, url, query, first)


Drain = Callable[[], Measurement]


def _fresh(
    rig: Rig, subject: Subject, url: str, query: Query, first: Drain, *, analyzed: bool = True, held: bool = False
) -> Measurement:
    rig.fill(subject, url, rig.options.drained(_JOBS))
    settle_down(query, analyzed=analyzed)
    with ExitStack() as ending:
        if held:
            other = ending.enter_context(connected(url))
            other("BEGIN ISOLATION LEVEL REPEATABLE READ")
            other("SELECT count(*) FROM hanbeon.queue")
        return first()


def _full(rig: Rig, _: Subject, __: str, query: Query, first: Drain) -> Measurement:
    extra = rig.options.in_proportion(_EXTRA, _JOBS)
    seed(query, SeedJobs(count=extra, finished=True))
    seed(query, SeedJobs(count=max(extra, rig.options.drained(_JOBS))))
    settle_down(query)
    return first()


def _stuck(rig: Rig, subject: Subject, url: str, query: Query, first: Drain) -> Measurement:
    """Measure with jobs that cannot run, created first so that every claim meets them before the drained queue."""
    extra = rig.options.in_proportion(_EXTRA, _JOBS)
    seed(query, SeedJobs(count=extra, name="saturated", limits=QueueLimits(max_concurrent=1)))
    hold_one(query, "saturated")
    seed(query, SeedJobs(count=extra, name="paused", paused=True))
    seed(query, SeedJobs(count=extra, name="unknown", task="nobody_has_it"))
    return _fresh(rig, subject, url, query, first)


def _among(rig: Rig, _: Subject, __: str, query: Query, first: Drain) -> Measurement:
    offices = rig.options.in_proportion(_OFFICES, _JOBS)
    roles = tuple(_OFFICE.roles)
    seed(query, SeedJobs(count=rig.options.drained(_JOBS), name="office", queues=offices, roles=roles, limits=_OFFICE))
    settle_down(query)
    return first()
