"""Dramatiq on Redis."""

from __future__ import annotations

from typing import Any

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark

broker = RedisBroker(url=url())
dramatiq.set_broker(broker)


@dramatiq.actor(actor_name="noop")
def noop(x: int) -> None:
    mark(x)


def one(_: Any, x: int) -> None:
    noop.send(x)


ADAPTER = Adapter(one)
