"""Results of the engine's surface, made from its records."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import tzinfo
from typing import Any, NamedTuple

import msgspec

from hanbeon.clock import MICROS, iso
from hanbeon.domain import job as job_records
from hanbeon.domain.hand_move import HandMove
from hanbeon.domain.job import RESERVED, AttemptRecord, JobRecord
from hanbeon.domain.lifecycle import AttemptStatus, State
from hanbeon.domain.statistics import QueueStatistics
from hanbeon.domain.timeline import timeline
from hanbeon.job_links import JobLink
from hanbeon.store.operations.access import TokenRecord
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.job_search import LinkedJob
from hanbeon.store.operations.queries import HeldJob
from hanbeon.store.operations.queues import QueueRecord
from hanbeon.store.tx import Tx
from hanbeon.surfaces.engine import schemas
from hanbeon.surfaces.schema import Failure
from hanbeon.surfaces.schema import JobLink as JobLinkView
from hanbeon.surfaces.stored_json import StoredJson, decoded


class Place(NamedTuple):
    """Where a job is found: its surface and the path there. `moves`, `private`, `exists`: see `JobPlace`."""

    surface: str | None = None
    path: str | None = None
    moves: bool = True
    private: bool = False
    exists: Callable[[Tx], Awaitable[bool]] | None = None


class Serializer:
    """Makes results with instants in one zone."""

    def __init__(self, zone: tzinfo, stored_json: StoredJson = decoded) -> None:
        self._zone, self._json = zone, stored_json

    def job(self, job: JobRecord, place: Place) -> schemas.EngineJob:
        return schemas.EngineJob(**self._fields(job, place))

    def detail(
        self,
        job: JobRecord,
        place: Place,
        attempts: Sequence[AttemptRecord],
        instances: dict[int, str],
        before: Sequence[LinkedJob],
        behind: Sequence[LinkedJob],
        waiting: str | None = None,
        hand_moves: Sequence[HandMove] = (),
        links: Sequence[JobLink] = (),
    ) -> schemas.EngineJobDetail:
        seen = [self._attempt(each, place, instances) for each in attempts]
        if job.state is State.RUNNING:
            seen.append(self._running(job, instances))
        moments = [
            schemas.Moved(**msgspec.structs.asdict(each) | {"at": self.iso(each.at)})
            for each in timeline(job, attempts, hand_moves)
        ]
        fields = self._fields(job, place)
        return schemas.EngineJobDetail(
            **fields,
            failure=_failure(job.failure, place),
            attempts=seen,
            timeline=moments,
            waiting=waiting,
            links=[JobLinkView(name=each.name, url=each.url(fields)) for each in links],
            depends_on=[linked(each) for each in before],
            dependents=[linked(each) for each in behind],
        )

    def _fields(self, job: JobRecord, place: Place) -> dict[str, Any]:
        # What a built-in task is given is a matter of its surface, and may be a message to somebody.
        built_in = job.task.startswith(RESERVED)
        policy = job.policy
        return {
            "seq": job.seq,
            "id": job.id,
            "queue": job.queue,
            "task": job.task,
            "role": job.role or None,
            "concurrency_key": job.concurrency_key or None,
            "state": job.state,
            "args": None if built_in else self._json(job.args),
            "priority": job.priority,
            "urgent": job.urgent,
            "run_at": self.iso(job.run_at),
            "created_at": self.iso(job.created_at),
            "started_at": self.iso_or_none(job.started_at),
            "deadline_at": self.iso_or_none(job.deadline_at),
            "finished_at": self.iso_or_none(job.finished_at),
            "stop_requested_at": self.iso_or_none(job.stop_requested_at),
            "unmet": job.unmet,
            "on_dependency_failure": job.on_dependency_failure,
            "dispatched_at": self.iso_or_none(job.dispatched_at),
            "retry_count": job.retry_count,
            "max_retries": policy.max_retries,
            "policy": schemas.EnginePolicy(
                retries=policy.max_retries,
                retry_delay=policy.base_us / MICROS,
                backoff=policy.backoff,
                jitter=policy.jitter,
                on_lost=policy.on_lost,
            ),
            "timeout_ms": None if job.timeout_us is None else job.timeout_us // 1_000,
            "expires_at": self.iso_or_none(job.expires_at),
            "attempt": job.fence,
            "instance_id": job.locked_by,
            "locked_until": self.iso_or_none(job.locked_until),
            "progress": self._json(job.progress),
            "result": None if place.private else self._json(job.result),
            "result_kept": job.state is not State.SUCCEEDED or job.result is not None,
            "failure_type": job.failure_type,
            "error_message": job.error_message,
            "idempotency_key": job.idempotency_key,
            "unique_key": job.unique_key,
            "work_item": job.work_item,
            "meta": None if built_in else self._json(job.meta),
            "replaced_by": job.replaced_by,
            "surface": place.surface,
            "path": place.path,
        }

    def _attempt(self, attempt: AttemptRecord, place: Place, instances: dict[int, str]) -> schemas.EngineAttempt:
        return schemas.EngineAttempt(
            attempt=attempt.attempt,
            status=attempt.status,
            instance=_instance(attempt.instance, instances),
            instance_id=attempt.instance,
            started_at=self.iso(attempt.started_at),
            deadline_at=self.iso_or_none(attempt.deadline_at),
            ended_at=self.iso(attempt.ended_at),
            failure_type=attempt.failure_type,
            error_message=attempt.message,
            failure=_failure(attempt.failure, place),
        )

    def _running(self, job: JobRecord, instances: dict[int, str]) -> schemas.EngineAttempt:
        return schemas.EngineAttempt(
            attempt=job.fence,
            status=AttemptStatus.RUNNING,
            instance=_instance(job.locked_by, instances),
            instance_id=job.locked_by,
            started_at=self.iso(job.started_at or job.created_at),
            deadline_at=self.iso_or_none(job.deadline_at),
            ended_at=None,
            failure_type=None,
            error_message=None,
            failure=None,
        )

    def queue(self, queue: QueueRecord, numbers: QueueStatistics) -> schemas.EngineQueue:
        return schemas.EngineQueue(
            name=queue.name,
            paused=queue.paused,
            max_concurrent=queue.limits.max_concurrent,
            max_per_key=queue.limits.max_per_key,
            roles=dict(queue.limits.roles),
            keys=dict(queue.limits.keys),
            declared=None if queue.declared is None else dict(queue.declared),
            **msgspec.structs.asdict(numbers),
        )

    def instance(self, instance: InstanceRecord, jobs: Sequence[HeldJob]) -> schemas.EngineInstance:
        return schemas.EngineInstance(
            id=instance.id,
            name=instance.name,
            host=instance.host,
            pid=instance.pid,
            version=instance.version,
            tasks=instance.tasks,
            schedules=instance.schedules,
            capacity=instance.capacity,
            running=instance.running,
            alive=instance.alive,
            draining=instance.draining,
            started_at=self.iso(instance.started_at),
            seen_at=self.iso(instance.seen_at),
            stopped_at=self.iso_or_none(instance.stopped_at),
            jobs=[schemas.Linked(id=job.id, task=job.task, state=State.RUNNING) for job in jobs],
        )

    def token(self, token: TokenRecord) -> schemas.Token:
        return schemas.Token(**self.token_fields(token))

    def token_fields(self, token: TokenRecord) -> dict[str, Any]:
        return {
            "id": token.id,
            "user": token.user_name,
            "scope": token.scope,
            "created_at": self.iso(token.created_at),
            "last_used_at": self.iso_or_none(token.last_used_at),
            "revoked_at": self.iso_or_none(token.revoked_at),
        }

    def iso(self, us: int) -> str:
        return iso(us, self._zone, "milliseconds") or ""

    def iso_or_none(self, us: int | None) -> str | None:
        return iso(us, self._zone, "milliseconds")


def linked(job: LinkedJob) -> schemas.Linked:
    return schemas.Linked(id=job.id, task=job.task, state=job.state)


def _failure(failure: job_records.Failure | None, place: Place) -> Failure | None:
    if failure is None:
        return None
    shown = msgspec.structs.replace(failure, exception=None, traceback=None) if place.private else failure
    return Failure(**msgspec.structs.asdict(shown))


def _instance(number: int | None, names: dict[int, str]) -> str | None:
    return None if number is None else names.get(number, f"instance {number}")
