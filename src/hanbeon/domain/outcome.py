"""Outcomes of attempts, and the only place that decides their effect on the job: `decide`."""

from __future__ import annotations

from typing import NamedTuple, assert_never

import msgspec

from hanbeon.domain.lifecycle import LIFECYCLE, AttemptStatus, Reason, State
from hanbeon.domain.retry import MAX_DELAY_US, NOT_THE_WORK, FailureType, OnLost, RetryPolicy

TIMEOUT_MESSAGE = "Job execution timed out"
LOST_MESSAGE = "The instance that ran it stopped renewing its lease"
NOT_BEGUN_MESSAGE = "Its instance stopped renewing its lease before the body began"
CANCELLED_MESSAGE = "Cancelled while running"
EXPIRED_MESSAGE = "It expired before it had ended"


class Returned(msgspec.Struct, frozen=True, tag=True, gc=False):
    """The body returned; `result` is JSON text, or None if none is to be kept."""

    result: str | None = "null"


class ExceptionText(msgspec.Struct, frozen=True, gc=False):
    """An exception of a body: its class, and its traceback as text."""

    name: str
    traceback: str


class Raised(msgspec.Struct, frozen=True, tag=True):
    """The body failed. A retry waits at least `retry_after_us`, which is capped at an hour."""

    message: str
    failure_type: str = FailureType.ERROR
    permanent: bool = False
    retry_after_us: int = 0
    exception: ExceptionText | None = None


class TimedOut(msgspec.Struct, frozen=True, tag=True):
    """The deadline passed and the work has been stopped, or (unseen) its instance vanished with it."""

    unseen: bool = False


class Lost(msgspec.Struct, frozen=True, tag=True):
    """The lease expired: it is unknown how the work ended, or (not begun) known that it never began."""

    begun: bool = True


class HandedBack(msgspec.Struct, frozen=True, tag=True):
    """The instance shuts down and the work has been stopped."""


class Cancelled(msgspec.Struct, frozen=True, tag=True):
    """The one who did the work says that it was cancelled, whether or not anybody here asked for that."""


class PutOff(msgspec.Struct, frozen=True, tag=True):
    """The task requested to be run again later."""

    delay_us: int
    message: str = ""


Outcome = Returned | Raised | TimedOut | Lost | HandedBack | PutOff | Cancelled


class Losses(NamedTuple):
    """Losses in a row before an attempt: of bodies that ran, and last of all of bodies that never began."""

    begun: int = 0
    unbegun: int = 0


class Held(NamedTuple):
    """The fields of a running job that a decision needs."""

    retry_count: int
    policy: RetryPolicy
    stop_requested: bool
    last_failure: str | None = None
    """The failure type of the attempt before, if that failed."""
    losses: Losses = Losses()
    expired: bool = False
    """It is stopped because it has expired, and not for a user."""


class AttemptEnd(msgspec.Struct, frozen=True, gc=False):
    """The end of an attempt: the move of its job and the fields to write."""

    reason: Reason
    attempt: AttemptStatus
    retry_count: int
    delay_us: int | None = None
    result: str | None = None
    failure_type: str | None = None
    message: str | None = None
    exception: ExceptionText | None = None
    losses: int = 0
    """For a job that outlives them: how many losses in a row there have been, with this one."""
    keeps_failure: bool = False
    """The job keeps the failure type that it had: this attempt counts for nothing."""

    @property
    def state(self) -> State:
        target = LIFECYCLE[self.reason].target
        assert target is not None
        return target


def decide(job: Held, outcome: Outcome, random_share: float = 0.0) -> AttemptEnd:
    """Decide the move of a running job. A requested stop wins over every outcome: a later result is ignored."""
    if job.expired:
        return AttemptEnd(
            Reason.FAILED,
            AttemptStatus.TIMEOUT,
            job.retry_count,
            failure_type=FailureType.EXPIRED,
            message=EXPIRED_MESSAGE,
        )
    if job.stop_requested or isinstance(outcome, Cancelled):
        return AttemptEnd(Reason.STOPPED, AttemptStatus.CANCELLED, job.retry_count, message=CANCELLED_MESSAGE)
    match outcome:
        case Returned(result):
            return AttemptEnd(Reason.SUCCEEDED, AttemptStatus.COMPLETED, job.retry_count, result=result)
        case Raised(message, failure_type, permanent, retry_after_us, exception):
            failed = _failed(job, AttemptStatus.FAILED, failure_type, message, permanent, random_share)
            return _with_exception(_not_before(failed, retry_after_us), exception)
        case TimedOut(unseen):
            # The end of the work was not observed: for a job that must run at most once that is as bad as a lost one.
            final = unseen and job.policy.on_lost is OnLost.FAIL
            return _failed(job, AttemptStatus.TIMEOUT, FailureType.TIMEOUT, TIMEOUT_MESSAGE, final, random_share)
        case Lost(begun) if not begun:
            # Growing delays, because what keeps killing its worker before that must not do so without a pause.
            return AttemptEnd(
                Reason.POSTPONED,
                AttemptStatus.RELEASED,
                job.retry_count,
                delay_us=job.policy.delay_after_losses_us(job.losses.unbegun + 1, random_share),
                message=NOT_BEGUN_MESSAGE,
                keeps_failure=True,
            )
        case Lost():
            return _failed(job, AttemptStatus.LOST, FailureType.LOST, LOST_MESSAGE, False, random_share)
        case HandedBack():
            return AttemptEnd(Reason.RELEASED, AttemptStatus.RELEASED, job.retry_count)
        case PutOff(delay_us, message):
            return AttemptEnd(
                Reason.POSTPONED,
                AttemptStatus.RELEASED,
                job.retry_count,
                delay_us=delay_us,
                message=_storable(message) or None,
            )
        case _:
            assert_never(outcome)


def _failed(
    job: Held, attempt: AttemptStatus, failure_type: str, message: str, permanent: bool, random_share: float
) -> AttemptEnd:
    failure_type, message = _storable(failure_type), _storable(message)
    if not permanent and failure_type in NOT_THE_WORK and job.policy.outlives_losses:
        losses = job.losses.begun + 1
        return AttemptEnd(
            Reason.RETRIED,
            attempt,
            job.retry_count,
            delay_us=job.policy.delay_after_losses_us(losses, random_share),
            failure_type=failure_type,
            message=message,
            losses=losses,
        )
    if not permanent and job.policy.forgives(failure_type, job.last_failure):
        return AttemptEnd(
            Reason.RETRIED, attempt, job.retry_count, delay_us=0, failure_type=failure_type, message=message
        )
    if job.policy.allows(failure_type, job.retry_count, permanent=permanent):
        return AttemptEnd(
            Reason.RETRIED,
            attempt,
            job.retry_count + 1,
            delay_us=job.policy.delay_us(job.retry_count, random_share),
            failure_type=failure_type,
            message=message,
        )
    return AttemptEnd(Reason.FAILED, attempt, job.retry_count, failure_type=failure_type, message=message)


def _not_before(failed: AttemptEnd, wait_us: int) -> AttemptEnd:
    """Honour the delay that the remote side requested, capped so that it cannot postpone a job forever."""
    wait_us = min(wait_us, MAX_DELAY_US)
    if failed.delay_us is None or failed.delay_us >= wait_us:
        return failed
    return msgspec.structs.replace(failed, delay_us=wait_us)


def _with_exception(failed: AttemptEnd, exception: ExceptionText | None) -> AttemptEnd:
    if exception is None:
        return failed
    text = ExceptionText(_storable(exception.name), _storable(exception.traceback))
    return msgspec.structs.replace(failed, exception=text)


def _storable(text: str) -> str:
    """Replace what PostgreSQL cannot store in a task's message: one odd message must not block a batch of results."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()
