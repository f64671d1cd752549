"""Metrics of a surface as plain data: the server alone knows how they are written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from hanbeon.domain.lifecycle import State
from hanbeon.domain.totals import Total
from hanbeon.store.tx import Tx


class GaugeMetric(NamedTuple):
    """A number of the database at one instant, by the values of its labels."""

    name: str
    help: str
    values: Mapping[tuple[str, ...], float]
    labels: tuple[str, ...] = ()


class SurfaceMetrics(NamedTuple):
    """Reads the gauges of a surface; `totals` are its counters.

    `of_reserved` makes gauges of the numbers of jobs by reserved prefix and state, for prefixes that are counted.
    """

    read: Callable[[Tx], Awaitable[Sequence[GaugeMetric]]]
    totals: Sequence[Total] = ()
    of_reserved: Callable[[Mapping[tuple[str, State], int]], Sequence[GaugeMetric]] | None = None
