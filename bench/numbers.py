"""Medians, spreads and ratios."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of them lie; always a measured value, never interpolated."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return median over median; None if one side has no figure."""
    if not ours or not theirs or not statistics.median(theirs):
        return None
    return statistics.median(ours) / statistics.median(theirs)


def levelled(values: Sequence[float]) -> float | None:
    """Return the median of the last quarter of a series over that of its second, when it was warm.

    About 1 if the series has levelled off. None for a series too short to have quarters.
    """
    quarter = len(values) // 4
    if not quarter:
        return None
    before, after = (statistics.median(part) for part in (values[quarter : 2 * quarter], values[-quarter:]))
    if before == after:
        return 1.0
    return after / before if before else float("inf")


def rate(values: Sequence[float]) -> str:
    """Format as `14,435 (12,350–15,756)`: the median, and the spread if there is more than one value."""
    return _spread([f"{value:,.0f}" for value in _points(values)])


def milliseconds(values: Sequence[float]) -> str:
    """Format like `rate`, with one decimal place, for small values."""
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
