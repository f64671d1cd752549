"""Duration histograms: counts per bucket, sixteen buckets to each power of two.

A histogram is a plain dict from bucket to count, which serializes to JSON unchanged. Values read from one are off by at
most 1/32: the buckets below 32 microseconds are exact, and above that no bucket is wider than a sixteenth of its lower
bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

Histogram = dict[int, int]

_BITS = 4
_SUBS = 1 << _BITS


def bucket(us: int) -> int:
    """Return the bucket of a duration; buckets are numbered in ascending order of their durations."""
    shift = us.bit_length() - 1 - _BITS
    return us if shift <= 0 else (shift << _BITS) + (us >> shift)


def bounds(bucket: int) -> tuple[int, int]:
    """Return the half-open range of durations in a bucket."""
    shift = (bucket >> _BITS) - 1
    if shift <= 0:
        return bucket, bucket + 1
    low = (bucket & (_SUBS - 1)) + _SUBS
    return low << shift, (low + 1) << shift


def of(spans: Iterable[int]) -> Histogram:
    """Return the histogram of these durations. Inlines `bucket`: this runs for every event."""
    return Counter([us if (shift := us.bit_length() - 5) <= 0 else (shift << 4) + (us >> shift) for us in spans])


def merge(into: Histogram, more: Histogram) -> None:
    """Add the counts of `more` to `into`."""
    for each, count in more.items():
        into[each] = into.get(each, 0) + count


def percentile(histogram: Histogram, share: float) -> int:
    """Return the percentile `share` (0 to 1) by nearest rank: the middle of its bucket.

    Off by at most 1/32. The histogram must not be empty.
    """
    total = sum(histogram.values())
    # Rounded, because 0.07 * 100 is a little more than 7, and the rank would be 8.
    rank = min(total, max(1, math.ceil(round(share * total, 6))))
    seen = 0
    for each in sorted(histogram):
        seen += histogram[each]
        if seen >= rank:
            return _middle(each)
    raise ValueError("an empty histogram has no percentiles")


def largest(histogram: Histogram) -> int:
    """Return the end of the last bucket: an upper bound that is nearly reached."""
    return bounds(max(histogram))[1] - 1


def mean(histogram: Histogram) -> float:
    """Return the mean, to the precision of the buckets."""
    return sum(_middle(each) * count for each, count in histogram.items()) / sum(histogram.values())


def _middle(bucket: int) -> int:
    low, high = bounds(bucket)
    return (low + high - 1) // 2
