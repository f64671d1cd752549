"""Metrics of schedules."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.clock import MICROS
from hanbeon.store.tx import Tx
from hanbeon.surfaces.metric import GaugeMetric, SurfaceMetrics
from hanbeon.surfaces.schedules.vocabulary import FIRES

_WAITING_SAMPLED = 1_000


async def _read(tx: Tx) -> Sequence[GaugeMetric]:
    counted = (await tx.fetch("schedule_counts"))[0]
    wait = (await tx.fetch("next_fire"))[0]["wait_us"]
    start_lag = (await tx.fetch("start_lag", _WAITING_SAMPLED))[0]["lag"]
    states: dict[tuple[str, ...], float] = {(state,): counted[state] for state in ("active", "paused")}
    return [
        GaugeMetric("hanbeon_schedules", "Schedules that have a next fire, or are paused", states, ("state",)),
        GaugeMetric(
            "hanbeon_schedule_lag_seconds",
            "Delay of the due schedule that has been unprocessed longest",
            {(): max(0, -(wait or 0)) / MICROS},
        ),
        GaugeMetric(
            "hanbeon_execution_start_lag_seconds",
            "Delay of the due execution that has been waiting to run longest",
            {(): max(0, start_lag or 0) / MICROS},
        ),
    ]


METRICS = SurfaceMetrics(_read, (FIRES,))
