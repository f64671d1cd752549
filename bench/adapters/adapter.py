"""What an adapter says about its queue."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

Session = Callable[[], AbstractContextManager[Any] | AbstractAsyncContextManager[Any]]


@dataclass(frozen=True)
class Adapter:
    """How to enqueue one job and many in one call, through what `session` opens; how to set up, and how to work.

    If `one` is a coroutine function, `bulk` is one and `session` is an asynchronous context. `worker` runs until the
    process is killed; queues that bring a command for it have none. `graph` prepares a graph of so many jobs; what it
    answers enqueues all of it in one call.
    """

    one: Callable[[Any, int], Any]
    bulk: Callable[[Any, Sequence[int]], Any] | None = None
    session: Session = nullcontext
    setup: Callable[[], Any] | None = None
    worker: Callable[[int], Any] | None = None
    graph: Callable[[int], Callable[[Any], Any]] | None = None


def url() -> str:
    """The database or Redis of this measurement."""
    return os.environ["BENCH_URL"]
