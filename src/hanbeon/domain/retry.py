"""Retry policies: if and when a failed attempt is followed by another, also by the HTTP status of an answer."""

from __future__ import annotations

import enum
from collections.abc import Iterator

import msgspec

MAX_DELAY_US = 3600 * 1_000_000


class Backoff(enum.StrEnum):
    EXPONENTIAL = "exponential"
    LINEAR = "linear"


class OnLost(enum.StrEnum):
    """Handling of an attempt whose instance vanished: run again (at least once) or fail (at most once)."""

    RETRY = "retry"
    FAIL = "fail"


class FailureType(enum.StrEnum):
    """Failure types the engine knows; a task may raise others, which are retried unless permanent."""

    ERROR = "error"
    TIMEOUT = "timeout"
    SESSION_ERROR = "session_error"
    TEMPORARY = "temporary"
    LOST = "lost"
    DATABASE_UNAVAILABLE = "database_unavailable"
    GIT_CONFLICT = "git_conflict"
    PERMISSION_ERROR = "permission_error"
    DEPENDENCY_FAILED = "dependency_failed"
    EXPIRED = "expired"
    INVALID = "invalid"


NEVER_RETRIED = frozenset(
    {
        FailureType.GIT_CONFLICT,
        FailureType.PERMISSION_ERROR,
        FailureType.DEPENDENCY_FAILED,
        FailureType.EXPIRED,
        FailureType.INVALID,
    }
)


NOT_THE_WORK = frozenset({FailureType.LOST, FailureType.DATABASE_UNAVAILABLE})
"""The work did not fail: its instance vanished, or the database refused it."""


class RetryPolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """How often and how soon a job is retried. Stored with the job, so that any instance can apply it."""

    max_retries: int = 3
    backoff: Backoff = Backoff.EXPONENTIAL
    base_us: int = 60 * 1_000_000
    jitter: float = 0.0
    on_lost: OnLost = OnLost.RETRY
    outlives_losses: bool = False
    """No loss ends the job, and none uses up a retry: only the work itself ends it, or a person."""

    def __post_init__(self) -> None:
        # A default is left out of the JSON by identity: an equal number would be written, and equal policies would have
        # different texts, and jobs with them different digests.
        for name, default in zip(self.__struct_fields__, self.__struct_defaults__, strict=True):
            if getattr(self, name) == default:
                msgspec.structs.force_setattr(self, name, default)

    def delay_us(self, retry_count: int, random_share: float = 0.0) -> int:
        """Return the wait before the next attempt: base·2ⁿ or base·(n+1), n = retries so far, at most an hour.

        `random_share` (0 ≤ r < 1) is drawn by the caller; it lengthens the wait by up to the share `jitter`.
        """
        if self.backoff is Backoff.EXPONENTIAL:
            delay = self.base_us << min(retry_count, 40)
        else:
            delay = self.base_us * (retry_count + 1)
        delay = min(delay, MAX_DELAY_US)
        return min(MAX_DELAY_US, delay + round(delay * self.jitter * random_share))

    def delay_after_losses_us(self, losses: int, random_share: float = 0.0) -> int:
        """Return the wait after so many losses in a row: none after the first, then growing like that of retries."""
        return self.delay_us(losses - 2, random_share) if losses > 1 else 0

    def forgives(self, failure_type: str, last_failure: str | None) -> bool:
        """True if another attempt follows at once and uses up no retry: the work did not fail, for the first time.

        The next one in a row counts, since a job may be what kills its instances or breaks its transactions.
        """
        return failure_type in NOT_THE_WORK and last_failure not in NOT_THE_WORK and self.on_lost is OnLost.RETRY

    def allows(self, failure_type: str, retry_count: int, *, permanent: bool) -> bool:
        """True if another attempt follows one that failed this way."""
        if permanent or failure_type in NEVER_RETRIED or retry_count >= self.max_retries:
            return False
        return not (failure_type == FailureType.LOST and self.on_lost is OnLost.FAIL)


class ExceptionFilter(msgspec.Struct, frozen=True):
    """Which exceptions of a task's bodies are retried, by the full names of their classes; subclasses count.

    By name, because the program of a worker process has classes of its own.
    """

    retry_on: tuple[str, ...] = ()
    """Empty: all."""
    no_retry_on: tuple[str, ...] = ()

    def refusal(self, error: BaseException) -> str | None:
        """Return why no attempt follows, if none does. Of a group its members are judged."""
        members = list(_members(error))
        for each in members:
            if (name := _first_of(each, self.no_retry_on)) is not None:
                return f"no_retry_on has {_short(name)}"
        if self.retry_on and any(_first_of(each, self.retry_on) is None for each in members):
            return f"retry_on has only {', '.join(map(_short, self.retry_on))}"
        return None


def full_name(kind: type[BaseException]) -> str:
    """Return the name of a class, which is the same in a worker process that has loaded the main program."""
    module = kind.__module__
    return f"{'__main__' if module == '__mp_main__' else module}.{kind.__qualname__}"


def _members(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _members(each)
    else:
        yield error


def _first_of(error: BaseException, names: tuple[str, ...]) -> str | None:
    own = {full_name(kind) for kind in type(error).__mro__ if issubclass(kind, BaseException)}
    return next((name for name in names if name in own), None)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


_KNOWN = {
    **dict.fromkeys((401, 403, 407), FailureType.PERMISSION_ERROR),
    **dict.fromkeys((408, 425, 429), FailureType.TEMPORARY),
}


def failure_type_of(status: int) -> FailureType:
    """Return the failure type: servers that cannot now are asked again, those that refuse are not."""
    return _KNOWN.get(status) or (FailureType.TEMPORARY if status >= 500 else FailureType.INVALID)
