"""Histograms tell percentiles within a 32nd part, whatever the spans are, and are as good in parts as whole."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain import histogram

SPANS = st.one_of(st.integers(0, 100), st.integers(0, 10**6), st.integers(0, 2**62))
SHARES = st.sampled_from([0.0, 0.01, 0.07, 0.5, 0.9, 0.95, 0.99, 1.0])


def exact(spans: list[int], percent: int) -> int:
    """By nearest rank, in whole numbers."""
    return sorted(spans)[max(1, -(-percent * len(spans) // 100)) - 1]


@given(SPANS)
def test_a_span_lies_in_its_bucket(us: int) -> None:
    low, high = histogram.bounds(histogram.bucket(us))
    assert low <= us < high
    assert high - low <= max(1, low / 16)


@given(st.integers(0, 1000))
def test_buckets_follow_each_other_without_a_gap(number: int) -> None:
    low, high = histogram.bounds(number)
    assert low < high == histogram.bounds(number + 1)[0]
    assert histogram.bucket(low) == histogram.bucket(high - 1) == number


@given(st.lists(SPANS, min_size=1, max_size=300), SHARES)
def test_percentiles_are_at_most_a_32nd_part_off(spans: list[int], share: float) -> None:
    expected = exact(spans, round(share * 100))
    assert math.fabs(histogram.percentile(histogram.of(spans), share) - expected) <= expected / 32 + 0.5


@given(st.lists(SPANS, min_size=1, max_size=100))
def test_the_largest_and_the_mean_are_near(spans: list[int]) -> None:
    made = histogram.of(spans)
    assert max(spans) <= histogram.largest(made) <= max(spans) * (1 + 1 / 16)
    average = sum(spans) / len(spans)
    assert math.fabs(histogram.mean(made) - average) <= average / 32 + 0.5 + average * 1e-9


@given(st.lists(SPANS), st.lists(SPANS))
def test_merged_parts_are_the_whole(some: list[int], others: list[int]) -> None:
    merged = histogram.of(some)
    histogram.merge(merged, histogram.of(others))
    assert merged == histogram.of(some + others)
    assert merged == Counter(histogram.bucket(us) for us in some + others)


def test_an_empty_histogram_has_no_percentiles() -> None:
    with pytest.raises(ValueError, match="empty"):
        histogram.percentile({}, 0.5)
