"""Metrics of offices: totals of all webhooks and messages; the state of a single webhook is in its office."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hanbeon.domain.lifecycle import State
from hanbeon.store.tx import Tx
from hanbeon.surfaces.metric import GaugeMetric, SurfaceMetrics
from hanbeon.surfaces.offices.delivery.rules import ListenerKind
from hanbeon.surfaces.offices.listener_rows import count_listeners
from hanbeon.surfaces.offices.vocabulary import DELIVERY


async def _read(tx: Tx) -> Sequence[GaugeMetric]:
    found = await count_listeners(tx)
    webhooks: dict[tuple[str, ...], float] = {
        (state,): found.get((ListenerKind.WEBHOOK, disabled), 0)
        for disabled, state in ((False, "enabled"), (True, "disabled"))
    }
    return [GaugeMetric("hanbeon_webhooks", "Webhooks by state", webhooks, ("state",))]


def _of_reserved(jobs: Mapping[tuple[str, State], int]) -> Sequence[GaugeMetric]:
    sent: Counter[tuple[str, ...]] = Counter()
    for (prefix, state), number in jobs.items():
        if prefix in set(ListenerKind):
            sent[prefix, DELIVERY[state].value] += number
    text = "Messages to webhooks and people by outcome"
    return [GaugeMetric("hanbeon_deliveries", text, dict(sent), ("kind", "status"))]


METRICS = SurfaceMetrics(_read, of_reserved=_of_reserved)
