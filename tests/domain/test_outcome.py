"""Decisions for a running job: every outcome, with and without a requested stop and retries left."""

import itertools

import pytest

from hanbeon.domain.lifecycle import LIFECYCLE, AttemptStatus, Reason, State, is_legal
from hanbeon.domain.outcome import (
    CANCELLED_MESSAGE,
    LOST_MESSAGE,
    TIMEOUT_MESSAGE,
    AttemptEnd,
    Cancelled,
    HandedBack,
    Held,
    Lost,
    Outcome,
    PutOff,
    Raised,
    Returned,
    TimedOut,
    decide,
)
from hanbeon.domain.retry import MAX_DELAY_US, NEVER_RETRIED, NOT_THE_WORK, FailureType, OnLost, RetryPolicy

BASE = 1_000
OUTCOMES: list[Outcome] = [
    Returned('{"a": 1}'),
    Raised("boom"),
    Raised("boom", permanent=True),
    *(Raised("boom", failure_type) for failure_type in (*FailureType, "of_its_own")),
    TimedOut(),
    TimedOut(unseen=True),
    Lost(),
    HandedBack(),
    Cancelled(),
    PutOff(5),
    PutOff(0, "not yet"),
]
POLICIES = [RetryPolicy(max_retries=retries, base_us=BASE, on_lost=on_lost) for retries in (0, 2) for on_lost in OnLost]


def _retried(outcome: Outcome, policy: RetryPolicy, retry_count: int) -> bool:
    """The contract's rule in other words."""
    if retry_count >= policy.max_retries:
        return False
    match outcome:
        case Raised(_, failure_type, permanent):
            lost = failure_type == FailureType.LOST and policy.on_lost is OnLost.FAIL
            return not (permanent or lost or failure_type in NEVER_RETRIED)
        case TimedOut(unseen):
            return not (unseen and policy.on_lost is OnLost.FAIL)
        case Lost():
            return policy.on_lost is OnLost.RETRY  # Of the second and later ones in a row; see below for the first.
        case Returned() | HandedBack() | PutOff() | Cancelled():
            return False


@pytest.mark.parametrize("outcome", OUTCOMES, ids=repr)
def test_a_requested_stop_wins_over_every_outcome(outcome: Outcome) -> None:
    for policy, retry_count in itertools.product(POLICIES, range(3)):
        ending = decide(Held(retry_count, policy, True), outcome)
        expected = AttemptEnd(Reason.STOPPED, AttemptStatus.CANCELLED, retry_count, message=CANCELLED_MESSAGE)
        assert ending == expected
        assert ending.state is State.CANCELLED


@pytest.mark.parametrize("outcome", OUTCOMES, ids=repr)
def test_failures_are_retried_while_the_policy_allows(outcome: Outcome) -> None:
    failures = {Raised: AttemptStatus.FAILED, TimedOut: AttemptStatus.TIMEOUT, Lost: AttemptStatus.LOST}
    for policy, retry_count in itertools.product(POLICIES, range(4)):
        ending = decide(Held(retry_count, policy, False, last_failure=FailureType.LOST), outcome)
        assert is_legal(ending.reason, State.RUNNING, ending.state)
        if type(outcome) not in failures:
            continue
        assert ending.attempt is failures[type(outcome)]
        assert ending.result is None
        if _retried(outcome, policy, retry_count):
            assert (ending.reason, ending.state) == (Reason.RETRIED, State.PENDING)
            assert ending.retry_count == retry_count + 1
            assert ending.delay_us == policy.delay_us(retry_count)
        else:
            assert (ending.reason, ending.state) == (Reason.FAILED, State.FAILED)
            assert (ending.retry_count, ending.delay_us) == (retry_count, None)


NOT_THE_WORKS = [Lost(), Raised("away", FailureType.DATABASE_UNAVAILABLE)]


@pytest.mark.parametrize("outcome", NOT_THE_WORKS, ids=repr)
def test_first_end_that_is_not_the_works_fault_is_free(outcome: Outcome) -> None:
    for policy, retry_count in itertools.product(POLICIES, range(4)):
        first = decide(Held(retry_count, policy, False, "error"), outcome)
        if policy.on_lost is OnLost.RETRY:
            assert (first.reason, first.retry_count, first.delay_us) == (Reason.RETRIED, retry_count, 0)
            assert first.failure_type in NOT_THE_WORK
        else:
            assert first == decide(Held(retry_count, policy, False, "lost"), outcome), "an ordinary failure"
        assert decide(Held(retry_count, policy, True), outcome).reason is Reason.STOPPED


def test_permanent_error_is_never_free() -> None:
    outcome = Raised("away", FailureType.DATABASE_UNAVAILABLE, permanent=True)
    assert decide(Held(0, RetryPolicy(), False), outcome).state is State.FAILED


def test_a_return_is_success_with_its_result() -> None:
    assert decide(Held(1, RetryPolicy(), False), Returned("[1]")) == AttemptEnd(
        Reason.SUCCEEDED, AttemptStatus.COMPLETED, 1, result="[1]"
    )


def test_handed_back_and_put_off_burn_no_retry() -> None:
    none_left = Held(3, RetryPolicy(max_retries=3), False)
    assert decide(none_left, HandedBack()) == AttemptEnd(Reason.RELEASED, AttemptStatus.RELEASED, 3)
    assert decide(none_left, PutOff(7)) == AttemptEnd(Reason.POSTPONED, AttemptStatus.RELEASED, 3, delay_us=7)
    assert decide(none_left, PutOff(7, "later")).message == "later"


def test_failures_say_what_they_were() -> None:
    held = Held(0, RetryPolicy(), False)
    delays = [
        (ending.failure_type, ending.message)
        for ending in (
            decide(held, Raised("boom", "of_its_own")),
            decide(held, TimedOut()),
            decide(held, TimedOut(unseen=True)),
            decide(held, Lost()),
        )
    ]
    assert delays == [
        ("of_its_own", "boom"),
        ("timeout", TIMEOUT_MESSAGE),
        ("timeout", TIMEOUT_MESSAGE),
        ("lost", LOST_MESSAGE),
    ]
    assert TIMEOUT_MESSAGE == "Job execution timed out"


def test_messages_are_made_storable() -> None:
    held = Held(0, RetryPolicy(), False)
    ending = decide(held, Raised("a\x00b\udcffc", "odd\x00"))
    assert (ending.message, ending.failure_type) == ("a�b?c", "odd�")
    assert decide(held, PutOff(1, "\x00")).message == "�"


def test_jitter_lengthens_the_wait_by_the_share_drawn() -> None:
    held = Held(0, RetryPolicy(base_us=1_000, jitter=0.5), False)
    assert decide(held, Raised("boom"), 0.0).delay_us == 1_000
    assert decide(held, Raised("boom"), 0.5).delay_us == 1_250


def test_retry_after_delays_the_retry() -> None:
    held = Held(0, RetryPolicy(base_us=1_000, jitter=1), False)
    waits = {asked: decide(held, Raised("busy", retry_after_us=asked)) for asked in (0, 999, 1_001, 10**30)}
    assert [ending.delay_us for ending in waits.values()] == [1_000, 1_000, 1_001, MAX_DELAY_US]
    assert {(ending.reason, ending.retry_count) for ending in waits.values()} == {(Reason.RETRIED, 1)}
    assert decide(held, Raised("busy", retry_after_us=1_500), 0.9).delay_us == 1_900, "jitter is for the own delay"


def test_asking_again_later_gives_no_retry_that_is_not_left() -> None:
    for outcome in (Raised("busy", "invalid", retry_after_us=5), Raised("busy", permanent=True, retry_after_us=5)):
        assert decide(Held(0, RetryPolicy(), False), outcome).delay_us is None
    assert decide(Held(3, RetryPolicy(), False), Raised("busy", retry_after_us=5)).state is State.FAILED


def test_every_ending_has_a_state() -> None:
    for outcome in OUTCOMES:
        ending = decide(Held(0, RetryPolicy(), False), outcome)
        assert ending.state is LIFECYCLE[ending.reason].target
