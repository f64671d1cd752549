"""The cost that HTTP adds to the engine for batches and single jobs, and the cost of stats with few and many jobs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from bench import numbers
from bench.comparison import shown
from bench.http_server import run_requests, serving
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.seed_data import SeedJobs, seed, settle_down
from bench.servers import connected
from bench.subjects import Subject
from hanbeon.surfaces.offices.queue import queue_of_office

_JOBS, _SINGLES, _STATS_REQUESTS, _TURNS = 40_000, 1_000, 100, 5
_FEW, _MANY = 5_000, 5_000_000
_BATCHES, _SINGLE = "batches of 1,000", "one job a request"
_STATS_FEW, _STATS_MANY = "stats, few jobs", "stats, many jobs"


class Server:
    name = "server"
    title = "Server: requests to a server without a worker, beside the engine's own calls in the same run"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        measures = (_batches, _singles, _stats)
        return [Step(subject.name, partial(measure, rig, subject)) for subject in rig.ours() for measure in measures]

    def tables(self, results: Results) -> list[Table]:
        rows = []
        for name in results.subjects(self.name):
            for measure, unit, show in (
                (_BATCHES, "jobs per second", numbers.rate),
                (_SINGLE, "p50 in ms", numbers.milliseconds),
            ):
                cells = (shown(results, self.name, (measure, (field,)), name, show) for field in ("engine", "request"))
                rows.append([f"{measure}: {unit}", *cells])
            for measure in (_STATS_FEW, _STATS_MANY):
                jobs = results.figures(self.name, measure, name, "jobs")
                p50 = shown(results, self.name, (measure, ("p50",)), name, numbers.milliseconds)
                rows.append([f"{measure} ({numbers.rate(jobs[:1])}): p50 in ms", "–", p50])
        return [Table(self.title, ("", "the engine's own call", "the request"), rows)]

    def aims(self, results: Results) -> list[Aim]:
        (name,) = results.subjects(self.name)[:1] or [""]

        def figures(measure: str, field: str) -> list[float]:
            return results.figures(self.name, measure, name, field)

        one, by_request = figures(_SINGLE, "engine"), figures(_SINGLE, "request")
        added = statistics.median(by_request) - statistics.median(one) if one and by_request else None
        return [
            Aim(
                "jobs in batches of 1,000: by request ÷ enqueue_many",
                numbers.ratio(figures(_BATCHES, "request"), figures(_BATCHES, "engine")),
                0.25,
            ),
            Aim("one job: p50 of a request less that of enqueue", added, most=2, unit=" ms"),
            Aim(
                "stats: with 5,000,000 jobs ÷ with 5,000",
                numbers.ratio(figures(_STATS_MANY, "p50"), figures(_STATS_FEW, "p50")),
                most=3,
            ),
        ]


def _batches(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    count = rig.options.drained(_JOBS)
    with rig.database(subject) as url:
        quiet = rig.quiet()
        engine = rig.client(subject, url, "bulk", count).seconds
    with rig.database(subject) as url, serving(rig, url) as service:
        request = run_requests(rig, url, service, "batches", count)
    values = {"jobs": count, "engine": count / engine, "request": request["jobs"] / request["seconds"]}
    yield Measurement(_BATCHES, values, quiet)


def _singles(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    with rig.database(subject) as url, serving(rig, url) as service:
        quiet = rig.quiet()
        found = run_requests(rig, url, service, "singles", rig.options.scaled(_SINGLES))
    yield Measurement(_SINGLE, found, quiet)


def _stats(rig: Rig, subject: Subject) -> Iterator[Measurement]:
    """Measure both sizes in turns, so that a machine that gets busier meanwhile affects both."""
    with ExitStack() as ending:
        measures = []
        for measure, jobs in ((_STATS_FEW, _FEW), (_STATS_MANY, rig.options.in_proportion(_MANY, _JOBS))):
            url = ending.enter_context(rig.database(subject))
            service = ending.enter_context(serving(rig, url))
            with connected(url) as sql:
                seed(sql, SeedJobs(count=jobs, name=queue_of_office(service.office)))
                settle_down(sql)
            measures.append(
                (measure, partial(run_requests, rig, url, service, "stats", rig.options.scaled(_STATS_REQUESTS)))
            )
        quiet = rig.quiet()
        for measure, stats in measures * rig.options.scaled(_TURNS):
            yield Measurement(measure, stats(), quiet)
