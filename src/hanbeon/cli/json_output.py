"""The JSON of `--json`: fields named as in the records, instants in ISO-8601, durations in seconds."""

from __future__ import annotations

import datetime as dt
from typing import Any

import msgspec

from hanbeon.cli.formats import iso
from hanbeon.clock import MICROS
from hanbeon.domain.events import Event
from hanbeon.domain.explain import INSTANTS, Explanation
from hanbeon.domain.job import AttemptRecord, JobRecord, session_id
from hanbeon.domain.log import LogCut, LogEntry
from hanbeon.domain.retry import RetryPolicy
from hanbeon.domain.statistics import QueueStatistics
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.queues import QueueRecord
from hanbeon.store.operations.tokens import TokenRecord
from hanbeon.tasks.task import Task

_INSTANTS = frozenset({"run_at", "locked_until"})
_DOCUMENTS = frozenset({"args", "progress", "result", "meta"})


def job_shape(job: JobRecord, zone: dt.tzinfo) -> dict[str, Any]:
    shape = _instants(msgspec.structs.asdict(job), zone)
    for name in _DOCUMENTS:
        shape[name] = None if shape[name] is None else msgspec.Raw(shape[name].encode())
    timeout = shape.pop("timeout_us")
    shape["timeout"] = None if timeout is None else timeout / MICROS
    shape["policy"] = policy_shape(job.policy)
    return shape


def policy_shape(policy: RetryPolicy) -> dict[str, Any]:
    """Return a retry policy under the names of the task options."""
    return {
        "retries": policy.max_retries,
        "retry_delay": policy.base_us / MICROS,
        "backoff": policy.backoff,
        "jitter": policy.jitter,
        "on_lost": policy.on_lost,
    }


def attempt_shape(attempt: AttemptRecord, zone: dt.tzinfo) -> dict[str, Any]:
    shape = _instants(msgspec.structs.asdict(attempt), zone)
    del shape["job_id"]
    return {**shape, "session_id": session_id(attempt.job_id, attempt.attempt)}


def explanation_shape(explanation: Explanation, zone: dt.tzinfo) -> dict[str, Any]:
    shape: dict[str, Any] = msgspec.to_builtins(explanation)
    for reason in shape["reasons"]:
        details = reason["details"]
        reason["details"] = details | {name: iso(details[name], zone) for name in INSTANTS & details.keys()}
    return shape


def log_shape(entry: LogEntry, zone: dt.tzinfo) -> dict[str, Any]:
    """Return a line, or a cut, which has `cut` instead of a text."""
    if isinstance(entry, LogCut):
        return {"attempt": entry.attempt, "line": entry.line, "cut": entry.lines}
    return {**msgspec.structs.asdict(entry), "at": iso(entry.at, zone)}


def queue_shape(queue: QueueRecord, numbers: QueueStatistics) -> dict[str, Any]:
    return {**limits_shape(queue), **msgspec.to_builtins(numbers)}


def limits_shape(queue: QueueRecord) -> dict[str, Any]:
    return {"name": queue.name, "paused": queue.paused, "limits": queue.limits, "declared": queue.declared}


def task_shape(task: Task[..., Any]) -> dict[str, Any]:
    shape = {"name": task.name, **msgspec.structs.asdict(task.options), "takes": str(task.signature)}
    return {**shape, "executor": task.executor}


def instance_shape(instance: InstanceRecord, zone: dt.tzinfo) -> dict[str, Any]:
    return _instants(msgspec.structs.asdict(instance), zone)


def token_shape(token: TokenRecord, zone: dt.tzinfo) -> dict[str, Any]:
    shape = _instants(msgspec.structs.asdict(token), zone)
    return {"id": shape.pop("id"), "user": shape.pop("user_name"), **shape}


def event_shape(event: Event, zone: dt.tzinfo) -> dict[str, Any]:
    """Return every field, empty ones too."""
    shape = msgspec.structs.asdict(event)
    took = shape.pop("took")
    return {**shape, "at": iso(event.at, zone), "took": None if took is None else took / MICROS}


def _instants(shape: dict[str, Any], zone: dt.tzinfo) -> dict[str, Any]:
    return {
        name: iso(value, zone) if name.endswith("_at") or name in _INSTANTS else value for name, value in shape.items()
    }
