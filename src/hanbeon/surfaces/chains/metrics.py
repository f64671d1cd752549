"""Metrics of chains."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.store.tx import Tx
from hanbeon.surfaces.chains.rows import unfinished_counts
from hanbeon.surfaces.chains.vocabulary import LOSSES
from hanbeon.surfaces.metric import GaugeMetric, SurfaceMetrics


async def _read(tx: Tx) -> Sequence[GaugeMetric]:
    found = await unfinished_counts(tx)
    counts: dict[tuple[str, ...], float] = {(state.value,): number for state, number in found.items()}
    return [GaugeMetric("hanbeon_chains", "Chains that run, or are BLOCKED and wait for a person", counts, ("state",))]


METRICS = SurfaceMetrics(_read, (LOSSES,))
