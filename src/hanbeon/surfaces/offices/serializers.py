"""Results of offices, made from the engine's records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from functools import lru_cache
from typing import Any

from hanbeon.clock import iso
from hanbeon.domain import explain as engine
from hanbeon.domain.job import AttemptRecord, JobRecord, session_id
from hanbeon.domain.lifecycle import AttemptStatus, State, phase_of
from hanbeon.outbound.targets import masked
from hanbeon.store.operations.queries import Dependency
from hanbeon.surfaces import job_view
from hanbeon.surfaces.offices.config import in_force
from hanbeon.surfaces.offices.delivery.rules import ListenerKind
from hanbeon.surfaces.offices.job_plan import meta_of
from hanbeon.surfaces.offices.listener_rows import ListenerRecord
from hanbeon.surfaces.offices.queue import queue_of_office
from hanbeon.surfaces.offices.rows import OfficeRecord
from hanbeon.surfaces.offices.schemas import (
    Edge,
    Job,
    JobDetail,
    JobExecution,
    Node,
    Office,
    Webhook,
)
from hanbeon.surfaces.offices.vocabulary import EXECUTION, STATUS, EventType, JobStatus, WebhookState, status_of_state
from hanbeon.surfaces.schema import Explanation, ExplanationReason
from hanbeon.surfaces.stored_json import StoredJson, decoded

_DEAD = (State.FAILED, State.CANCELLED)


class Serializer:
    """Makes the results of one office's jobs, as of one instant, in one zone."""

    def __init__(self, office_id: str, now: int, zone: tzinfo, stored_json: StoredJson = decoded) -> None:
        self._office_id, self._now, self._json = office_id, now, stored_json
        # Jobs of one batch were made at the same instant.
        self._iso = lru_cache(maxsize=256)(lambda us: iso_ms(us, zone))

    def job(self, job: JobRecord, dependencies: Sequence[Dependency]) -> Job:
        return Job(**self._fields(job, dependencies))

    def detail(
        self, job: JobRecord, dependencies: Sequence[Dependency], attempts: Sequence[AttemptRecord]
    ) -> JobDetail:
        executions = [self._execution(each) for each in attempts]
        if job.state is State.RUNNING:
            executions.append(self._running(job))
        return JobDetail(**self._fields(job, dependencies), executions=executions)

    def node(self, job: JobRecord) -> Node:
        meta = meta_of(job.meta)
        return Node(
            id=job.id,
            key=meta.key,
            title=meta.title,
            role=job.role or None,
            task_id=job.work_item,
            status=self._status(job),
        )

    def _fields(self, job: JobRecord, dependencies: Sequence[Dependency]) -> dict[str, Any]:
        meta = meta_of(job.meta)
        ended = job.finished_at if job.state is not State.CANCELLED else None
        return {
            "id": job.id,
            "key": meta.key,
            "office_id": self._office_id,
            "task_id": job.work_item,
            "role": job.role or None,
            "title": meta.title,
            "status": self._status(job),
            "priority": job.priority,
            "urgent": job.urgent,
            "depends_on": [each.id for each in dependencies],
            "blocked_by": [each.id for each in dependencies if job.state is State.PENDING and each.state in _DEAD],
            "retry_count": job.retry_count,
            "timeout_ms": None if job.timeout_us is None else job.timeout_us // 1_000,
            "progress": self._json(job.progress),
            "result": self._json(job.result),
            "error_message": job.error_message,
            "failure_type": job.failure_type,
            "created_at": self._iso(job.created_at),
            "started_at": self._iso(job.started_at),
            "completed_at": self._iso(ended),
            "cancelled_at": self._iso(job.finished_at if job.state is State.CANCELLED else None),
        }

    def _status(self, job: JobRecord) -> JobStatus:
        return STATUS[phase_of(job.state, job.deadline_at, self._now)]

    def _execution(self, attempt: AttemptRecord) -> JobExecution:
        return JobExecution(
            job_id=attempt.job_id,
            attempt=attempt.attempt,
            started_at=self._iso(attempt.started_at) or "",
            timeout_at=self._iso(attempt.deadline_at),
            session_id=session_id(attempt.job_id, attempt.attempt),
            status=EXECUTION[attempt.status],
            completed_at=self._iso(attempt.ended_at),
            error_message=attempt.message,
        )

    def _running(self, job: JobRecord) -> JobExecution:
        return JobExecution(
            job_id=job.id,
            attempt=job.fence,
            started_at=self._iso(job.started_at) or "",
            timeout_at=self._iso(job.deadline_at),
            session_id=session_id(job.id, job.fence),
            status=EXECUTION[AttemptStatus.RUNNING],
        )


def office_view(office: OfficeRecord, listeners: Sequence[ListenerRecord], zone: tzinfo) -> Office:
    return Office(
        id=office.id,
        name=office.name,
        config=in_force(office.config),
        sessions=office.sessions,
        notifications=[masked(each.url) for each in listeners if each.kind is ListenerKind.NOTIFICATION],
        webhooks=[webhook_view(each, zone) for each in listeners if each.kind is ListenerKind.WEBHOOK],
        version=office.version,
        created_at=iso_ms(office.created_at, zone) or "",
        changed_at=iso_ms(office.changed_at, zone) or "",
    )


def webhook_view(hook: ListenerRecord, zone: tzinfo) -> Webhook:
    return Webhook(
        id=hook.id,
        url=hook.url,
        events=None if hook.events is None else [EventType(each) for each in hook.events],
        state=WebhookState.ENABLED if hook.disabled_at is None else WebhookState.DISABLED,
        disabled_at=iso_ms(hook.disabled_at, zone),
        consecutive_failures=hook.failures,
        last_error=hook.last_error,
        last_failure_at=iso_ms(hook.last_failure_at, zone),
        last_success_at=iso_ms(hook.last_success_at, zone),
    )


def edges(dependencies: dict[str, list[Dependency]]) -> list[Edge]:
    return [Edge(source=each.id, target=job_id) for job_id, found in dependencies.items() for each in found]


def explanation_view(found: engine.Explanation, office_id: str, zone: tzinfo) -> Explanation:
    seen, queue = job_view.explanation_view(found, zone, status_of_state), repr(queue_of_office(office_id))
    return Explanation(runnable=seen.runnable, reasons=[_of_office(each, queue) for each in seen.reasons])


def _of_office(reason: ExplanationReason, queue: str) -> ExplanationReason:
    """Hide that an office is a queue."""
    text = reason["text"].replace(f"Queue {queue}", "The office").replace(f"queue {queue}", "the office")
    seen: ExplanationReason = {**reason, "text": text}
    seen.pop("queue", None)
    return seen


def iso_ms(us: int | None, zone: tzinfo) -> str | None:
    return iso(us, zone, "milliseconds")
