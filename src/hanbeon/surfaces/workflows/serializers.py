"""Results of workflows, made from the engine's records."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.clock import MICROS, iso
from hanbeon.messages import shown_target
from hanbeon.surfaces.stored_json import StoredJson
from hanbeon.surfaces.workflows import schemas
from hanbeon.surfaces.workflows.plan import config_view, steps_view
from hanbeon.surfaces.workflows.rows import WorkflowRecord
from hanbeon.surfaces.workflows.run_rows import RunRecord, WholeRun
from hanbeon.surfaces.workflows.secret_use import secret_outputs
from hanbeon.surfaces.workflows.step_rows import DeliveryRecord
from hanbeon.surfaces.workflows.times import Passed
from hanbeon.surfaces.workflows.vocabulary import status_of
from hanbeon.zones import zone_of

_passed = msgspec.json.Decoder(Passed)


class Serializer:
    """Makes results with instants in the zone of the installation; a workflow's own times are in its own zone."""

    def __init__(self, zone: ZoneInfo, stored_json: StoredJson) -> None:
        self._zone, self._stored_json = zone, stored_json

    def workflow(self, record: WorkflowRecord, run: schemas.WorkflowRun | None = None) -> schemas.Workflow:
        zone = zone_of(record.timezone)
        plan = record.plan
        return schemas.Workflow(
            id=record.id,
            name=record.name,
            status=record.status,
            steps=steps_view(plan, zone),
            variables=plan.variables,
            schedule_config=config_view(record.config, zone),
            timezone=record.timezone,
            notifications=[shown_target(target) for target in plan.notifications],
            next_run_at=iso(record.next_time, zone, "milliseconds"),
            run_id=record.run_id,
            declared=record.declared is not None,
            version=record.version,
            created_by=record.created_by,
            created_at=self.at(record.created_at),
            updated_at=self.at(record.changed_at),
            run=run,
        )

    def run(self, whole: WholeRun) -> schemas.WorkflowRun:
        run = whole.run
        return schemas.WorkflowRun(
            run_id=run.run_id,
            workflow_id=run.workflow_id,
            kind=run.kind,
            status=status_of(run.state),
            scheduled_time=self.at(run.scheduled_time),
            executed_at=self._maybe(run.executed_at),
            ended_at=self._maybe(run.ended_at),
            retry_count=run.retry_count,
            error_code=run.error_code,
            error_message=run.error_message,
            late=run.late,
            skipped=self._skipped(run.skipped),
            variables=self._stored_json(run.variables),
            steps=self._steps(whole),
        )

    def execution(self, whole: WholeRun) -> schemas.Execution:
        run = whole.run
        return schemas.Execution(
            run_id=run.run_id,
            workflow_id=run.workflow_id,
            status=status_of(run.state),
            error_code=run.error_code,
            error_message=run.error_message,
            steps=self._steps(whole),
        )

    def executed(self, run: RunRecord) -> schemas.ExecutedRun:
        return schemas.ExecutedRun(
            run_id=run.run_id,
            workflow_id=run.workflow_id,
            status=status_of(run.state),
            error_code=run.error_code,
            error_message=run.error_message,
        )

    def delayed(self, row: Any) -> schemas.DelayedRun:
        return schemas.DelayedRun(
            run_id=str(row["run_id"]),
            workflow_id=str(row["workflow_id"]),
            name=row["name"],
            scheduled_time=self.at(row["scheduled_time"]),
            due_at=self.at(row["due_at"]),
            late_seconds=(row["now"] - row["due_at"]) / MICROS,
        )

    def next(self, row: Any) -> schemas.NextRun:
        return schemas.NextRun(
            run_id=str(row["run_id"]),
            workflow_id=str(row["workflow_id"]),
            name=row["name"],
            scheduled_time=self.at(row["scheduled_time"]),
            due_at=self.at(row["due_at"]),
        )

    def failed(self, row: Any) -> schemas.FailedRun:
        return schemas.FailedRun(
            run_id=str(row["run_id"]),
            workflow_id=str(row["workflow_id"]),
            name=row["name"],
            scheduled_time=self.at(row["scheduled_time"]),
            ended_at=self.at(row["ended_at"]),
            error_code=row["error_code"],
            error_message=row["error_message"],
        )

    def _steps(self, whole: WholeRun) -> list[schemas.WorkflowStep]:
        plan = whole.run.plan if whole.steps else None
        secret = frozenset() if plan is None else secret_outputs(plan)
        return [
            schemas.WorkflowStep(
                index=step.step_index,
                name=step.name,
                type=step.type,
                status=step.status,
                attempts=step.attempts,
                output=None if step.output is None else self._stored_json(step.output),
                error_message=step.error_message,
                started_at=self.at(step.started_at),
                ended_at=self._maybe(step.ended_at),
                unknown=step.unknown,
                job_id=step.step_job,
                deliveries=[_delivery(each) for each in whole.deliveries if each.step_index == step.step_index],
                output_secret=step.name in secret,
            )
            for step in whole.steps
        ]

    def _skipped(self, text: str | None) -> schemas.SkippedTimes | None:
        if text is None:
            return None
        found = _passed.decode(text)
        return schemas.SkippedTimes(count=found.count, first=self.at(found.first), last=self.at(found.last))

    def at(self, us: int) -> str:
        return iso(us, self._zone, "milliseconds") or ""

    def _maybe(self, us: int | None) -> str | None:
        return iso(us, self._zone, "milliseconds")


def _delivery(record: DeliveryRecord) -> schemas.WorkflowDelivery:
    return schemas.WorkflowDelivery(
        recipient=record.n,
        status=record.status,
        attempts=record.attempts,
        unknown=record.unknown,
        error_message=record.error_message,
    )
