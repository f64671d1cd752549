"""Delta debugging: leave parts of a plan out for as long as the same rule is broken."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from hanbeon.testing.simulation.plan import Plan
from hanbeon.testing.simulation.simulation import Result

T = TypeVar("T")
RunAtOnce = Callable[[Sequence[Plan]], Sequence[Result]]
_PARTS = ("faults", "operations")
_PATIENCE = 90.0
"""Enough for a run that ends at all; a liveness finding would otherwise take ten virtual minutes in each try."""


class Shrunk(msgspec.Struct, frozen=True):
    """The smallest plan that was found, and its result."""

    plan: Plan
    result: Result
    tries: int
    is_finished: bool
    """False if the time was over before no part could be left out any more."""


def shrink(run: RunAtOnce, plan: Plan, result: Result, seconds: float = 120.0, width: int = 1) -> Shrunk:
    """Leave out what is not needed to break a rule that `result` breaks, for at most this many real seconds.

    `run`: `Simulator.run_at_once`. `width`: how many plans it gets at once.
    """
    search = _Search(run, result.kinds, time.monotonic() + seconds, width)
    search.best = (plan, result)
    is_finished = False
    with contextlib.suppress(_TimeIsOver):
        search.first([msgspec.structs.replace(plan, patience=min(plan.patience, _PATIENCE))])
        while search.smaller(search.best[0]):
            pass
        is_finished = True
    return Shrunk(*search.best, search.tries, is_finished)


class _TimeIsOver(Exception):
    """The best plan so far has to do."""


class _Search:
    best: tuple[Plan, Result]

    def __init__(self, run: RunAtOnce, kinds: frozenset[str], ends_at: float, width: int) -> None:
        self._run, self._kinds, self._ends_at, self._width = run, kinds, ends_at, width
        self.tries = 0

    def smaller(self, plan: Plan) -> bool:
        """Find a plan with less that still fails; False if there is none."""
        return self._without_parts(plan) or self._with_fewer_jobs(self.best[0]) or self._with_less_around(self.best[0])

    def _without_parts(self, plan: Plan) -> bool:
        """Leave out ever smaller parts, each from where the last one was left out."""
        is_found = False
        for name in _PARTS:
            size = len(getattr(plan, name))
            while size:
                start = 0
                while (place := self.first(self._parts_left_out(name, start, size))) is not None:
                    start += place * size
                    is_found = True
                size //= 2
        return is_found

    def _parts_left_out(self, name: str, start: int, size: int) -> list[Plan]:
        plan = self.best[0]
        items: tuple[Any, ...] = getattr(plan, name)
        return [
            msgspec.structs.replace(plan, **{name: (*items[:place], *items[place + size :])})
            for place in range(start, len(items), size)
        ]

    def _with_fewer_jobs(self, plan: Plan) -> bool:
        """Shorten lists in the arguments of operations."""
        candidates = []
        for place, operation in enumerate(plan.operations):
            for name, value in operation.args.items():
                if isinstance(value, list) and len(value) > 1:
                    for rest in _leaving_out(value, max(1, len(value) // 2)):
                        changed = msgspec.structs.replace(operation, args=operation.args | {name: list(rest)})
                        operations = (*plan.operations[:place], changed, *plan.operations[place + 1 :])
                        candidates.append(msgspec.structs.replace(plan, operations=operations))
        return self.first(candidates) is not None

    def _with_less_around(self, plan: Plan) -> bool:
        """Have fewer workers, or end earlier."""
        candidates = []
        if plan.workers > 1 and all(fault.node < plan.workers - 1 for fault in plan.faults):
            candidates.append(msgspec.structs.replace(plan, workers=plan.workers - 1))
        last = max([0.0, *(each.at for each in plan.faults), *(each.at for each in plan.operations)])
        if last + 1.0 < plan.until - 0.5:
            candidates.append(msgspec.structs.replace(plan, until=round(last + 1.0, 3)))
        return self.first(candidates) is not None

    def first(self, candidates: Sequence[Plan]) -> int | None:
        """Return the place of the first plan that fails by the same rule, which is the best then."""
        for start in range(0, len(candidates), self._width):
            if time.monotonic() > self._ends_at:
                raise _TimeIsOver
            tried = candidates[start : start + self._width]
            self.tries += len(tried)
            for place, (plan, result) in enumerate(zip(tried, self._run(tried), strict=True), start):
                if result.kinds & self._kinds:
                    self.best = plan, result
                    return place
        return None


def _leaving_out(items: Sequence[T], size: int) -> Iterator[tuple[T, ...]]:
    for start in range(0, len(items), size):
        yield (*items[:start], *items[start + size :])
