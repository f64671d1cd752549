"""When the next attempt comes."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.retry import MAX_DELAY_US, NEVER_RETRIED, Backoff, FailureType, OnLost, RetryPolicy

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("backoff", "seconds"),
    [
        (Backoff.EXPONENTIAL, [60, 120, 240, 480, 960, 1920, 3600, 3600]),
        (Backoff.LINEAR, [60, 120, 180, 240, 300, 360, 420, 480]),
    ],
)
def test_delays_grow_from_the_base(backoff: Backoff, seconds: list[int]) -> None:
    policy = RetryPolicy(backoff=backoff, base_us=60 * SECOND)
    assert [policy.delay_us(n) // SECOND for n in range(8)] == seconds


def test_an_hour_is_the_longest_wait() -> None:
    assert MAX_DELAY_US == 3600 * SECOND
    assert RetryPolicy(backoff=Backoff.LINEAR, base_us=60 * SECOND).delay_us(10_000) == MAX_DELAY_US
    assert RetryPolicy(base_us=1).delay_us(10_000) == MAX_DELAY_US
    assert RetryPolicy(base_us=2 * MAX_DELAY_US).delay_us(0) == MAX_DELAY_US
    assert RetryPolicy(base_us=MAX_DELAY_US, jitter=1.0).delay_us(0, 0.99) == MAX_DELAY_US


@given(
    st.sampled_from(Backoff),
    st.integers(0, 10**12),
    st.integers(0, 100),
    st.floats(0, 1),
    st.floats(0, 1, exclude_max=True),
)
def test_jitter_only_lengthens_and_delays_never_shrink(
    backoff: Backoff, base: int, n: int, jitter: float, share: float
) -> None:
    plain, shaken = (
        RetryPolicy(backoff=backoff, base_us=base),
        RetryPolicy(backoff=backoff, base_us=base, jitter=jitter),
    )
    assert plain.delay_us(n, share) == plain.delay_us(n)
    assert plain.delay_us(n) <= shaken.delay_us(n, share) <= min(MAX_DELAY_US, plain.delay_us(n) * (1 + jitter) + 1)
    assert plain.delay_us(n) <= plain.delay_us(n + 1)


@pytest.mark.parametrize("failure_type", [*FailureType, "of_its_own"])
def test_which_failures_are_followed_by_another_attempt(failure_type: str) -> None:
    policy = RetryPolicy(max_retries=1)
    assert policy.allows(failure_type, 0, permanent=False) == (failure_type not in NEVER_RETRIED)
    assert not policy.allows(failure_type, 1, permanent=False)
    assert not policy.allows(failure_type, 0, permanent=True)


def test_on_lost_fail_refuses_a_lost_attempt_only() -> None:
    policy = RetryPolicy(on_lost=OnLost.FAIL)
    assert not policy.allows(FailureType.LOST, 0, permanent=False)
    assert policy.allows(FailureType.ERROR, 0, permanent=False)


def test_equal_policies_have_the_same_text() -> None:
    """Their texts are stored, and part of the digest by which a repeated request is recognised."""
    computed = RetryPolicy(
        max_retries=int("3"), backoff=Backoff("exponential"), base_us=int("60000000"), jitter=float("-0.0")
    )
    assert msgspec.json.encode(computed) == msgspec.json.encode(RetryPolicy()) == b"{}"
