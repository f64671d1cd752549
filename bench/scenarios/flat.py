"""Whether the rate of a drain stays what it is in a fresh database, whatever else is in the tables."""

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
from bench.seed_data import Ask, Crowd, hold_one, seed, settle_down
from bench.servers import asking
from bench.subjects import Subject
from hanbeon.domain.limits import QueueLimits

_JOBS, _CROWD, _OFFICES = 40_000, 1_000_000, 10_000
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
    beside_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        # The base comes first and last: it takes minutes to fill the tables, and the machine may change meanwhile.
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
        notes = [
            "From the first execution to the last one counted. `--jobs` and `--short` make the crowds smaller, too."
        ]
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
    with rig.database(subject) as url, asking(url) as ask:
        first = partial(drain, rig, subject, url, rig.options.drained(_JOBS), 1, measure, some=True)
        yield situation(rig, subject, url, ask, first)


Drain = Callable[[], Measurement]


def _fresh(
    rig: Rig, subject: Subject, url: str, ask: Ask, first: Drain, *, analyzed: bool = True, held: bool = False
) -> Measurement:
    rig.fill(subject, url, rig.options.drained(_JOBS))
    settle_down(ask, analyzed=analyzed)
    with ExitStack() as ending:
        if held:
            other = ending.enter_context(asking(url))
            other("BEGIN ISOLATION LEVEL REPEATABLE READ")
            other("SELECT count(*) FROM hanbeon.queue")
        return first()


def _full(rig: Rig, _: Subject, __: str, ask: Ask, first: Drain) -> Measurement:
    crowd = rig.options.beside(_CROWD, _JOBS)
    seed(ask, Crowd(count=crowd, finished=True))
    seed(ask, Crowd(count=max(crowd, rig.options.drained(_JOBS))))
    settle_down(ask)
    return first()


def _stuck(rig: Rig, subject: Subject, url: str, ask: Ask, first: Drain) -> Measurement:
    """They come first, so that each look for work meets them before the queue that is drained."""
    crowd = rig.options.beside(_CROWD, _JOBS)
    seed(ask, Crowd(count=crowd, name="saturated", limits=QueueLimits(max_concurrent=1)))
    hold_one(ask, "saturated")
    seed(ask, Crowd(count=crowd, name="paused", paused=True))
    seed(ask, Crowd(count=crowd, name="unknown", task="nobody_has_it"))
    return _fresh(rig, subject, url, ask, first)


def _among(rig: Rig, _: Subject, __: str, ask: Ask, first: Drain) -> Measurement:
    offices = rig.options.beside(_OFFICES, _JOBS)
    roles = tuple(_OFFICE.roles)
    seed(ask, Crowd(count=rig.options.drained(_JOBS), name="office", queues=offices, roles=roles, limits=_OFFICE))
    settle_down(ask)
    return first()
