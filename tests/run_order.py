"""Starts the longest tests first, on all workers: one that starts last is what the whole run then waits for.

`longest_tests.txt` lists them with the seconds that each takes in a run; they need not be exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pytest

LIST = Path(__file__).with_name("longest_tests.txt")
T = TypeVar("T")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every worker of pytest-xdist arranges the tests alike, when those of other markers have been left out."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        seconds = listed(LIST.read_text().splitlines())
        items[:] = arrange(items, lambda item: _cost(item, seconds), int(worker["workercount"]))


def listed(lines: Iterable[str]) -> dict[str, float]:
    """Return the seconds of each test of the list, by its id below `tests/`."""
    rows = (line.rsplit(maxsplit=1) for line in lines if line.strip())
    return {name: float(seconds) for name, seconds in rows}


def arrange(items: list[T], cost: Callable[[T], float], workers: int) -> list[T]:
    """Give each worker's share a part of the long tests, dearest first; the others keep their order.

    `--dist worksteal` first gives each worker one stretch of the list, of about the same length.
    """
    shares: list[list[T]] = [[] for _ in range(workers)]
    for item in sorted(items, key=cost, reverse=True):
        if cost(item):
            min(shares, key=lambda share: sum(map(cost, share))).append(item)
    rest = iter([item for item in items if not cost(item)])
    arranged: list[T] = []
    for number, share in enumerate(shares):
        length = (len(items) - len(arranged)) // (workers - number)
        arranged += share
        arranged += [item for _, item in zip(range(length - len(share)), rest, strict=False)]
    return arranged + list(rest)


def _cost(item: pytest.Item, seconds: dict[str, float]) -> float:
    """Return what the list says of this very variant, or else of the test."""
    name = item.nodeid.removeprefix("tests/")
    return seconds.get(name) or seconds.get(name.partition("[")[0], 0.0)
