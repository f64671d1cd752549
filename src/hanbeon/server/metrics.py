"""Prometheus metrics: the contents of the database, read at each scrape, and the requests of this server."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hanbeon.clock import MICROS
from hanbeon.domain.totals import Total
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.overview import QueueNumbers
from hanbeon.surfaces.metric import GaugeMetric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset(("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"))


class RequestCounts:
    """Requests of this server by route pattern: labels made from paths would be unbounded."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "hanbeon_http_requests", "Requests answered", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "hanbeon_http_request_seconds", "Duration of requests", ("method", "route"), registry=self.registry
        )

        self._open = Gauge(
            "hanbeon_open_connections", "Open WebSockets and event streams", ("route",), registry=self.registry
        )
        self._gaps = Counter(
            "hanbeon_gaps", "Times that a subscriber was too slow for the live stream", registry=self.registry
        )

        self._refused = Counter(
            "hanbeon_refused_connections",
            "Connections beyond the limit in total, or of one address",
            ("limit",),
            registry=self.registry,
        )

    @contextlib.contextmanager
    def connection(self, route: str) -> Iterator[None]:
        """Count a connection as open for the duration of the block."""
        with self._open.labels(route).track_inprogress():
            yield

    def refused(self, limit: str) -> None:
        self._refused.labels(limit).inc()

    def gap(self) -> None:
        self._gaps.inc()

    def count(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count a request; without `seconds` if the client decided how long it lasted."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(method, route).observe(seconds)


class Numbers(NamedTuple):
    """The contents of the database at one instant."""

    queues: Mapping[str, QueueNumbers]
    instances: Sequence[InstanceRecord]
    gauges: Sequence[GaugeMetric]
    """Those of the surfaces."""
    totals: Mapping[Total, Mapping[tuple[str, ...], int]]


def metrics_text(counts: RequestCounts, numbers: Numbers) -> bytes:
    """Return all metrics in the text format."""
    snapshot = CollectorRegistry()
    snapshot.register(_Numbers(numbers))
    return generate_latest(snapshot) + generate_latest(counts.registry)


class _Numbers(Collector):
    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def collect(self) -> Iterator[Metric]:
        yield from _of_queues(self._numbers.queues)
        alive = [each for each in self._numbers.instances if each.alive]
        yield GaugeMetricFamily("hanbeon_instances", "Workers that are alive", value=len(alive))
        yield GaugeMetricFamily("hanbeon_slots", "Jobs that they may run", value=sum(each.capacity for each in alive))
        yield GaugeMetricFamily("hanbeon_slots_taken", "Jobs that they run", value=sum(each.running for each in alive))
        yield from _of_surface(self._numbers.gauges)
        yield from _totals(self._numbers.totals)


def _of_queues(queues: Mapping[str, QueueNumbers]) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("hanbeon_jobs", "Jobs by queue and state", labels=("queue", "state"))
    oldest = GaugeMetricFamily(
        "hanbeon_oldest_ready_seconds", "Wait of the job that has waited longest", labels=("queue",)
    )
    for name, queue in queues.items():
        for state, number in queue.states.items():
            jobs.add_metric((name, state.value), number)
        if queue.oldest_ready_us is not None:
            oldest.add_metric((name,), queue.oldest_ready_us / MICROS)
    yield jobs
    yield oldest


def _of_surface(gauges: Iterable[GaugeMetric]) -> Iterator[Metric]:
    for each in gauges:
        family = GaugeMetricFamily(each.name, each.help, labels=each.labels)
        for labels, number in each.values.items():
            family.add_metric(labels, number)
        yield family


def _totals(counters: Mapping[Total, Mapping[tuple[str, ...], int]]) -> Iterator[Metric]:
    """Totals of all instances, stopped ones included."""
    for total, counted in counters.items():
        family = CounterMetricFamily(total.metric, total.help, labels=total.labels)
        for labels, number in counted.items():
            family.add_metric(labels, number)
        yield family
