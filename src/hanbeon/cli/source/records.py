"""The engine's records, made from the results of a server."""

from __future__ import annotations

import datetime as dt
from typing import Any

import msgspec

from hanbeon.clock import micros
from hanbeon.domain.explain import INSTANTS, Because, Explanation
from hanbeon.domain.job import AttemptRecord, JobRecord
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.domain.limits import QueueLimits
from hanbeon.domain.log import LogCut, LogEntry, LogLine, LogPage, LogStream
from hanbeon.domain.retry import RetryPolicy
from hanbeon.domain.statistics import QueueStatistics
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.queries import Dependency
from hanbeon.store.operations.queues import QueueRecord
from hanbeon.surfaces import schema
from hanbeon.surfaces.engine import schemas

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


def job_record(job: schemas.EngineJob) -> JobRecord:
    return JobRecord(
        seq=job.seq,
        id=job.id,
        queue=job.queue,
        task=job.task,
        role=job.role or "",
        concurrency_key=job.concurrency_key or "",
        state=job.state,
        args=_stored(job.args) or "null",
        priority=job.priority,
        urgent=job.urgent,
        run_at=instant(job.run_at),
        created_at=instant(job.created_at),
        started_at=_instant_or_none(job.started_at),
        deadline_at=_instant_or_none(job.deadline_at),
        finished_at=_instant_or_none(job.finished_at),
        stop_requested_at=_instant_or_none(job.stop_requested_at),
        unmet=job.unmet,
        on_dependency_failure=job.on_dependency_failure,
        retry_count=job.retry_count,
        timeout_us=None if job.timeout_ms is None else job.timeout_ms * 1_000,
        policy=RetryPolicy(
            max_retries=job.policy.retries,
            base_us=micros(job.policy.retry_delay),
            backoff=job.policy.backoff,
            jitter=job.policy.jitter,
            on_lost=job.policy.on_lost,
        ),
        fence=job.attempt,
        locked_by=job.instance_id,
        locked_until=_instant_or_none(job.locked_until),
        progress=_stored(job.progress),
        result=_stored(job.result),
        failure_type=job.failure_type,
        error_message=job.error_message,
        idempotency_key=job.idempotency_key,
        unique_key=job.unique_key,
        work_item=job.work_item,
        meta=_stored(job.meta),
        replaced_by=job.replaced_by,
    )


def attempts_of(job: schemas.EngineJobDetail) -> list[AttemptRecord]:
    """Return the attempts that have ended."""
    return [
        AttemptRecord(
            job_id=job.id,
            attempt=each.attempt,
            status=each.status,
            instance=each.instance_id,
            started_at=instant(each.started_at),
            deadline_at=_instant_or_none(each.deadline_at),
            ended_at=instant(each.ended_at),
            failure_type=each.failure_type,
            message=each.error_message,
        )
        for each in job.attempts
        if each.status is not AttemptStatus.RUNNING and each.ended_at is not None
    ]


def dependencies_of(job: schemas.EngineJobDetail) -> list[Dependency]:
    return [Dependency(each.id, each.state) for each in job.depends_on]


def queue_record(queue: schemas.EngineQueue) -> QueueRecord:
    limits = QueueLimits(
        max_concurrent=queue.max_concurrent, max_per_key=queue.max_per_key, roles=queue.roles, keys=queue.keys
    )
    return QueueRecord(0, queue.name, queue.paused, limits, queue.declared)


def statistics_of(queue: schemas.EngineQueue) -> QueueStatistics:
    return QueueStatistics(**{name: getattr(queue, name) for name in QueueStatistics.__struct_fields__})


def instance_record(instance: schemas.EngineInstance) -> InstanceRecord:
    known: dict[str, Any] = {name: getattr(instance, name) for name in InstanceRecord.__struct_fields__}
    for name in ("started_at", "seen_at", "stopped_at"):
        known[name] = _instant_or_none(known[name])
    return InstanceRecord(**known)


def log_page(log: schema.Log) -> LogPage:
    return LogPage(entries=tuple(map(_log_entry, log.entries)), after=log.after, more=log.more)


def _log_entry(entry: schema.LogEntry) -> LogEntry:
    if entry.lines is not None:
        return LogCut(attempt=entry.attempt, line=entry.line, lines=entry.lines)
    return LogLine(
        attempt=entry.attempt,
        line=entry.line,
        at=instant(entry.at or ""),
        stream=LogStream(entry.stream or ""),
        text=entry.text or "",
        unended=entry.unended,
    )


def explanation(found: schema.Explanation) -> Explanation:
    return Explanation(found.runnable, [_because(each) for each in found.reasons])


def _because(reason: schema.ExplanationReason) -> Because:
    details: dict[str, Any] = {name: value for name, value in reason.items() if name not in ("code", "text")}
    if "status" in details:  # The surface's word for it; that of the engine's own surface is the state.
        details = {"state": details.pop("status"), **details}
    for name in INSTANTS & details.keys():
        details[name] = _instant_or_none(details[name])
    return Because(reason["code"], reason["text"], details)


def instant(text: str) -> int:
    return (dt.datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND


def _instant_or_none(text: str | None) -> int | None:
    return None if text is None else instant(text)


def _stored(value: Any) -> str | None:
    """Return the JSON text that the database has; a stored null is shown as nothing."""
    return None if value is None else msgspec.json.encode(value).decode()
