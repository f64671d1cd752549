"""Medians, spreads, percentiles and ratios."""

import pytest

from bench import numbers
from bench.report.aims import rows
from bench.scenario import Aim


def test_a_rate_is_its_median_and_its_spread() -> None:
    assert numbers.rate([3000.4, 1000, 2000]) == "2,000 (1,000–3,000)"
    assert numbers.rate([1234.5]) == "1,234"
    assert numbers.rate([]) == "–"
    assert numbers.milliseconds([1.04, 3.0, 2.0]) == "2.0 (1.0–3.0)"


def test_a_ratio_is_of_medians_and_needs_both_sides() -> None:
    assert numbers.ratio([10, 40, 20], [5, 1, 9]) == 4
    assert numbers.ratio([], [1]) is None
    assert numbers.ratio([1], []) is None
    assert numbers.ratio([1], [0]) is None
    assert (numbers.times(1.234), numbers.times(None)) == ("1.23×", "–")


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.5, 51), (0.95, 96), (0.99, 100), (1.0, 101)])
def test_a_percentile_is_a_value_that_was_measured(share: float, value: float) -> None:
    assert numbers.percentile(list(range(101, 0, -1)), share) == value


def test_levelled_compares_the_end_with_the_second_quarter() -> None:
    assert numbers.levelled([1, 2, 3, 4, 4, 4, 4, 4, 4]) == 4 / 3.5
    assert numbers.levelled([9, 9, 10, 10, 50, 50, 12, 12]) == 1.2
    assert numbers.levelled([0, 0, 0, 0]) == 1
    assert numbers.levelled([0, 0, 5, 5]) == float("inf")
    assert numbers.levelled([1, 2, 3]) is None


def test_an_aim_is_met_missed_or_informative() -> None:
    assert rows([Aim("a", 2.5, least=2, hoped=3)]) == [["a", "≥ 2×, aim 3×", "2.50×", "met"]]
    assert rows([Aim("b", 6, most=5, unit=" ms")]) == [["b", "≤ 5 ms", "6.00 ms", "missed"]]
    assert rows([Aim("c", 1.2, beside="floor: 1.30×")]) == [["c", "floor: 1.30×", "1.20×", ""]]
    assert rows([Aim("not measured", None, least=2)]) == []
