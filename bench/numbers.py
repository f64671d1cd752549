"""Medians, spreads and ratios."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie; a value that was measured, never one between two."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Median over median; None where one side has no figure."""
    if not ours or not theirs or not statistics.median(theirs):
        return None
    return statistics.median(ours) / statistics.median(theirs)


def levelled(values: Sequence[float]) -> float | None:
    """How a series ends against how it was once warm: the median of its last quarter over that of its second.

    About 1 where it has levelled off. None for a series too short to have quarters.
    """
    quarter = len(values) // 4
    if not quarter:
        return None
    before, after = (statistics.median(part) for part in (values[quarter : 2 * quarter], values[-quarter:]))
    if before == after:
        return 1.0
    return after / before if before else float("inf")


def rate(values: Sequence[float]) -> str:
    """`14,435 (12,350–15,756)`: the median, and the spread if there is more than one."""
    return _spread([f"{value:,.0f}" for value in _points(values)])


def milliseconds(values: Sequence[float]) -> str:
    """The same with a digit behind the point, for whatever is small."""
    return _spread([f"{value:.1f}" for value in _points(values)])


def times(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}×"


def _points(values: Sequence[float]) -> list[float]:
    if len(values) < 2:
        return list(values)
    return [statistics.median(values), min(values), max(values)]


def _spread(points: list[str]) -> str:
    if not points:
        return "–"
    middle, *ends = points
    return f"{middle} ({'–'.join(ends)})" if ends else middle
