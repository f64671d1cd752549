"""Executions of registered tasks: jobs that run by the settings of their task, each made by one cause."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.job import DEFAULT_QUEUE
from hanbeon.domain.retry import RetryPolicy

_KEYS = "hanbeon:execution/"
_SCHEDULED, _MANUAL = "hanbeon:schedule/", "hanbeon:manual/"
ALL_KEYS = (_KEYS, _KEYS[:-1] + "0")  # 0 is the character after the slash.
"""The half-open range of the unique keys of all tasks' executions."""


class ExecutionType(enum.StrEnum):
    SCHEDULE = "SCHEDULE"
    MANUAL = "MANUAL"


class TaskSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How executions of a task run, as last registered."""

    queue: str = DEFAULT_QUEUE
    role: str = ""
    priority: int = 0
    timeout_us: int | None = None
    expires_us: int | None = None
    policy: RetryPolicy = RetryPolicy()
    parameters: dict[str, Any] | None = None
    """The JSON Schema of its arguments, for forms; None if it is not known."""


def execution_key(task_id: int, among_others: str = "") -> str:
    """Return the unique key of an execution. Those of one task share a prefix, so that they are found together.

    Without `among_others` it is the key of one that runs alone: two of these cannot be unfinished at the same time.
    """
    return f"{_KEYS}{task_id}/{among_others}"


def execution_keys(task_id: int) -> tuple[str, str]:
    """Return the half-open range of the unique keys of a task's executions."""
    return f"{_KEYS}{task_id}/", f"{_KEYS}{task_id}0"  # 0 is the character after the slash.


class Cause(NamedTuple):
    """The cause of an execution: a fire of a schedule, or a request."""

    type: ExecutionType
    schedule_id: str | None = None
    fire_at: int | None = None


def scheduled_key(schedule_id: str, fire_at: int) -> str:
    """Return the idempotency key of a fire's execution, which prevents a second one."""
    return f"{_SCHEDULED}{schedule_id}/{fire_at}"


def manual_key(execution_id: str) -> str:
    """Return the idempotency key of a manual run, whose cause is the request itself."""
    return f"{_MANUAL}{execution_id}"


def cause_of(idempotency_key: str | None) -> Cause | None:
    """Return the cause of an execution from its idempotency key; None for a job that is not an execution."""
    if idempotency_key is None:
        return None
    if idempotency_key.startswith(_MANUAL):
        return Cause(ExecutionType.MANUAL)
    if not idempotency_key.startswith(_SCHEDULED):
        return None
    schedule_id, _, fire_at = idempotency_key.removeprefix(_SCHEDULED).partition("/")
    return Cause(ExecutionType.SCHEDULE, schedule_id, int(fire_at)) if fire_at.isdecimal() else None
