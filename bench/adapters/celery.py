"""Celery on Redis, without results."""

from __future__ import annotations

from typing import Any

from celery import Celery

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark

app = Celery("bench", broker=url())
app.conf.update(task_ignore_result=True, broker_connection_retry_on_startup=True)


@app.task(name="noop")
def noop(x: int) -> None:
    mark(x)


def one(_: Any, x: int) -> None:
    noop.delay(x)


ADAPTER = Adapter(one)
