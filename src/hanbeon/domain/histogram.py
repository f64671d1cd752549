"""How long things took, in few numbers: counts per bucket, sixteen buckets to each power of two.

A histogram is a plain dict from bucket to count, so that it is JSON as it stands. What is read out of one is at most a
32nd part off: the buckets below 32 microseconds are exact, and above that no bucket is wider than a sixteenth of where
it begins.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

Histogram = dict[int, int]

_BITS = 4
_SUBS = 1 << _BITS


def bucket(us: int) -> int:
    """The bucket of a span; they are numbered in the order of what they hold."""
    shift = us.bit_length() - 1 - _BITS
    return us if shift <= 0 else (shift << _BITS) + (us >> shift)


def bounds(bucket: int) -> tuple[int, int]:
    """What a bucket holds: from the first number up to, and without, the second."""
    shift = (bucket >> _BITS) - 1
    if shift <= 0:
        return bucket, bucket + 1
    low = (bucket & (_SUBS - 1)) + _SUBS
    return low << shift, (low + 1) << shift


def of(spans: Iterable[int]) -> Histogram:
    """The histogram of these spans. Written out instead of calling `bucket`: it is on the way of every event."""
    return Counter([us if (shift := us.bit_length() - 5) <= 0 else (shift << 4) + (us >> shift) for us in spans])


def merge(into: Histogram, more: Histogram) -> None:
    """Add what `more` counted, as if its spans had been counted in `into` at once."""
    for each, count in more.items():
        into[each] = into.get(each, 0) + count


def percentile(histogram: Histogram, share: float) -> int:
    """The span that `share` (0 to 1) of all are not above, by nearest rank: the middle of its bucket.

    At most a 32nd part off. The histogram must not be empty.
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
    """The end of the last bucket: nothing was longer, something was nearly so long."""
    return bounds(max(histogram))[1] - 1


def mean(histogram: Histogram) -> float:
    """The mean, as near as the buckets tell."""
    return sum(_middle(each) * count for each, count in histogram.items()) / sum(histogram.values())


def _middle(bucket: int) -> int:
    low, high = bounds(bucket)
    return (low + high - 1) // 2
