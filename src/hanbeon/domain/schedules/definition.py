"""A schedule as it is defined, and what the database knows of the task that it runs."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from hanbeon.domain.job import DEFAULT_QUEUE
from hanbeon.domain.retry import RetryPolicy
from hanbeon.domain.schedules.fire_times import Timing
from hanbeon.domain.schedules.history import ExecutionType
from hanbeon.domain.schedules.misfire import Misfire, Overlap

CATCH_UP_MOST = 100
"""How many missed fires are caught up with, unless the schedule says otherwise."""
_KEYS = "hanbeon:execution/"
_SCHEDULED, _MANUAL = "hanbeon:schedule/", "hanbeon:manual/"
ALL_KEYS = (_KEYS, _KEYS[:-1] + "0")  # 0 is the character behind the slash.
"""From which unique key to before which the unfinished executions of all tasks are."""


class Definition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a schedule says: when, with which arguments, and what if the last run has not ended, or nobody was there."""

    timing: Timing
    args: str = "{}"
    overlap: Overlap = Overlap.SKIP
    misfire: Misfire = Misfire.COALESCE
    misfire_limit: int = CATCH_UP_MOST


class TaskSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How executions of a task run, as whoever registered it last says."""

    queue: str = DEFAULT_QUEUE
    role: str = ""
    priority: int = 0
    timeout_us: int | None = None
    policy: RetryPolicy = RetryPolicy()


def execution_key(task_id: int, among_others: str = "") -> str:
    """The unique key of an execution. All of a task begin alike, so that they are found together.

    Without `among_others` it is the key of one that runs alone, and two of these cannot be unfinished at a time.
    """
    return f"{_KEYS}{task_id}/{among_others}"


def execution_keys(task_id: int) -> tuple[str, str]:
    """From which key to before which the executions of a task are."""
    return f"{_KEYS}{task_id}/", f"{_KEYS}{task_id}0"  # 0 is the character behind the slash.


class Cause(NamedTuple):
    """Why an execution exists: a fire of a schedule, or a request."""

    type: ExecutionType
    schedule_id: str | None = None
    fire_at: int | None = None


def scheduled_key(schedule_id: str, fire_at: int) -> str:
    """The idempotency key of the execution of a fire: a second one cannot be made."""
    return f"{_SCHEDULED}{schedule_id}/{fire_at}"


def manual_key(execution_id: str) -> str:
    """That of a manual run, whose cause is the request itself."""
    return f"{_MANUAL}{execution_id}"


def cause_of(idempotency_key: str | None) -> Cause | None:
    """Why a job is an execution, by its idempotency key; None of a job that is none."""
    if idempotency_key is None:
        return None
    if idempotency_key.startswith(_MANUAL):
        return Cause(ExecutionType.MANUAL)
    if not idempotency_key.startswith(_SCHEDULED):
        return None
    schedule_id, _, fire_at = idempotency_key.removeprefix(_SCHEDULED).partition("/")
    return Cause(ExecutionType.SCHEDULE, schedule_id, int(fire_at)) if fire_at.isdecimal() else None
