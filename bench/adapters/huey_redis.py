"""Huey on Redis."""

from __future__ import annotations

from typing import Any

from huey import RedisHuey

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark

huey = RedisHuey("bench", url=url())


@huey.task(name="noop")
def noop(x: int) -> None:
    mark(x)


def one(_: Any, x: int) -> None:
    noop(x)


ADAPTER = Adapter(one)
