"""Results of schedules, made from the engine's records."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from hanbeon.clock import iso
from hanbeon.domain import explain as engine
from hanbeon.store.operations.executions import ExecutionRecord
from hanbeon.store.operations.tasks import TaskRecord
from hanbeon.surfaces.job_view import explanation_view
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.declaration import InForce, overridden
from hanbeon.surfaces.schedules.definitions import fields_of
from hanbeon.surfaces.schedules.rows import FireRecord, LastExecution, ScheduleRecord
from hanbeon.surfaces.schedules.vocabulary import error_code, status_of
from hanbeon.surfaces.schema import Explanation
from hanbeon.surfaces.stored_json import StoredJson, decoded


class Serializer:
    """Makes results with times in one zone."""

    def __init__(self, zone: ZoneInfo, stored_json: StoredJson = decoded) -> None:
        self._zone, self._json = zone, stored_json

    def schedule(self, schedule: ScheduleRecord, last: LastExecution | None) -> schemas.Schedule:
        return schemas.Schedule(
            id=schedule.id,
            name=schedule.name,
            task_id=schedule.task,
            **fields_of(schedule.definition, self._zone, stored_json=self._json),
            paused=schedule.paused,
            next_fire_at=self._iso(schedule.next_fire_at),
            last_fire_at=self._iso(schedule.last_fire_at),
            last_status=None if last is None else status_of(last.state),
            last_execution_id=None if last is None else last.id,
            waiting=[self._at(each) for each in schedule.waiting],
            declared=schedule.declared is not None,
            overridden=_overridden(schedule),
            version=schedule.version,
            created_by=schedule.created_by,
            created_at=self._at(schedule.created_at),
            changed_at=self._at(schedule.changed_at),
        )

    def execution(self, execution: ExecutionRecord) -> schemas.Execution:
        job = execution.job
        return schemas.Execution(
            execution_id=job.id,
            task_id=job.task,
            type=execution.type,
            status=status_of(job.state),
            schedule_id=execution.schedule_id,
            scheduled_at=self._at(execution.scheduled_at),
            created_at=self._at(job.created_at),
            started_at=self._iso(job.started_at),
            ended_at=self._iso(job.finished_at),
            retry_count=job.retry_count,
            instance=execution.instance,
            locked_until=self._iso(job.locked_until),
            error_code=error_code(job.state, job.failure_type),
            error_message=job.error_message,
            progress=self._json(job.progress),
            result=self._json(job.result),
            requested_by=execution.requested_by,
        )

    def task(self, task: TaskRecord, live: int) -> schemas.Task:
        settings = task.settings
        return schemas.Task(
            task_id=task.name,
            queue=settings.queue,
            role=settings.role or None,
            priority=settings.priority,
            timeout_ms=None if settings.timeout_us is None else settings.timeout_us // 1_000,
            max_retries=settings.policy.max_retries,
            parameters=settings.parameters,
            live=live,
            registered_by=task.registered_by,
            first_registered_at=self._at(task.first_registered_at),
            registered_at=self._at(task.registered_at),
        )

    def fire(self, fire: FireRecord) -> schemas.Fire:
        return schemas.Fire(
            fire_at=self._at(fire.fire_at),
            outcome=fire.outcome,
            reason=fire.reason,
            execution_id=fire.execution_id,
            status=None if fire.state is None else status_of(fire.state),
            more=fire.more,
            recorded_at=self._at(fire.recorded_at),
        )

    def explanation(self, found: engine.Explanation) -> Explanation:
        return explanation_view(found, self._zone, status_of)

    def _iso(self, us: int | None) -> str | None:
        return iso(us, self._zone, "milliseconds")

    def _at(self, us: int) -> str:
        return self._iso(us) or ""


def _overridden(schedule: ScheduleRecord) -> list[str]:
    if schedule.declared is None:
        return []
    return overridden(schedule.declared, InForce(schedule.task, schedule.definition, schedule.paused))
