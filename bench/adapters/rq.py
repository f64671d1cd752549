"""RQ; its simple worker runs jobs without a fork for each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import redis
from rq import Queue

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark


def noop(x: int) -> None:
    mark(x)


def session() -> AbstractContextManager[Any]:
    return nullcontext(Queue("default", connection=redis.Redis.from_url(url())))


def one(queue: Any, x: int) -> None:
    queue.enqueue(noop, x)


def bulk(queue: Any, xs: Sequence[int]) -> None:
    queue.enqueue_many([Queue.prepare_data(noop, (x,)) for x in xs])


ADAPTER = Adapter(one, bulk, session)
