"""The interface of an adapter to a queue."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

Session = Callable[[], AbstractContextManager[Any] | AbstractAsyncContextManager[Any]]


@dataclass(frozen=True)
class Adapter:
    """Functions that enqueue one job or many in one call, set up the queue, and run a worker.

    They get the client that `session` opens. If `one` is a coroutine function, so is `bulk`, and `session` is an
    asynchronous context. `worker` runs until the process is killed; queues with a command for it have none. `graphs`
    prepare a graph of the given size and return a function that enqueues it in one call.
    """

    one: Callable[[Any, int], Any]
    bulk: Callable[[Any, Sequence[int]], Any] | None = None
    session: Session = nullcontext
    setup: Callable[[], Any] | None = None
    worker: Callable[[int], Any] | None = None
    graphs: Mapping[str, Callable[[int], Callable[[Any], Any]]] = field(default_factory=dict)


def url() -> str:
    """The database or Redis of this measurement."""
    return os.environ["BENCH_URL"]
