"""Metrics of reminders."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.store.tx import Tx
from hanbeon.surfaces.metric import GaugeMetric, SurfaceMetrics
from tests.surfaces.reminders.rows import kept_texts


async def _read(tx: Tx) -> Sequence[GaugeMetric]:
    return [GaugeMetric("hanbeon_reminder_texts", "Texts that are kept", {(): len(await kept_texts(tx))})]


METRICS = SurfaceMetrics(_read)
