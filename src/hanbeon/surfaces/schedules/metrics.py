"""Metrics of schedules."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.clock import MICROS
from hanbeon.domain.schedules.history import FIRES
from hanbeon.store.operations.totals import schedule_numbers
from hanbeon.store.tx import Tx
from hanbeon.surfaces.metric import GaugeMetric, SurfaceMetrics


async def _read(tx: Tx) -> Sequence[GaugeMetric]:
    found = await schedule_numbers(tx)
    states: dict[tuple[str, ...], float] = {("active",): found.active, ("paused",): found.paused}
    return [
        GaugeMetric("hanbeon_schedules", "Schedules that have a next fire, or are paused", states, ("state",)),
        GaugeMetric(
            "hanbeon_schedule_lag_seconds",
            "Delay of the due schedule that has been unprocessed longest",
            {(): found.lag / MICROS},
        ),
        GaugeMetric(
            "hanbeon_execution_start_lag_seconds",
            "Delay of the due execution that has been waiting to run longest",
            {(): found.start_lag / MICROS},
        ),
    ]


METRICS = SurfaceMetrics(_read, (FIRES,))
