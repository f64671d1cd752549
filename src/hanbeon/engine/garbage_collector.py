"""Garbage collection in a process that runs many small jobs."""

from __future__ import annotations

import gc

THRESHOLDS = (50_000, 20, 20)


def tune_collector() -> None:
    """Make the garbage collector run less often, in a process that is a worker or a server and nothing else.

    What was loaded until now stays; scanning it again and again cost a third of the time of small jobs. Jobs create
    many objects that live for milliseconds and no cycles, so collections can be rarer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
