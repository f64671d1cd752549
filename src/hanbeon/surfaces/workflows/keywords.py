"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from hanbeon.surfaces.workflows.schemas import Moment, NewRecurrence, NewScheduleConfig, NewStep
from hanbeon.surfaces.workflows.vocabulary import Frequency, Mode, OnError, StepType, WorkflowStatus


class DryRunFields(TypedDict, total=False):
    """Values for a dry run: variables, and outputs of steps by their names."""

    variables: Mapping[str, Any] | None
    outputs: Mapping[str, Any] | None


class NewExecutionFields(TypedDict, total=False):
    """A run beside the registered one, of a workflow of any status. Variables that are not given keep their default."""

    workflow_id: Required[str]
    variables: Mapping[str, Any] | None


class NewRecurrenceFields(TypedDict, total=False):
    """A `cron` expression, or a frequency with a `time`."""

    cron: str | None
    frequency: Frequency | str | None
    time: str | None
    weekdays: Sequence[str] | None
    day: int | None


class NewScheduleConfigFields(TypedDict, total=False):
    """When a workflow runs: one field beside the mode, or none for immediate."""

    mode: Required[Mode | str]
    delay_minutes: float | None
    scheduled_time: Moment | None
    recurrence: NewRecurrence | Mapping[str, Any] | None


class NewStepFields(TypedDict, total=False):
    """A step. message: target, title, body, recipients; http: method, url, headers, body; wait: seconds, minutes or"""

    type: Required[StepType | str]
    name: str | None
    retries: int | None
    retry_delay: float | None
    timeout: float | None
    on_error: OnError | str | None
    target: str | None
    title: str | None
    body: str | bool | int | float | Sequence[Any] | Mapping[str, Any] | None
    recipients: Sequence[Mapping[str, Any]] | None
    method: str | None
    url: str | None
    headers: Mapping[str, str] | None
    seconds: float | None
    minutes: float | None
    until: Moment | None
    task_id: str | None
    args: Mapping[str, Any] | None


class NewWorkflowFields(TypedDict, total=False):
    """A workflow; a draft unless its status says otherwise."""

    name: Required[str]
    steps: Required[Sequence[NewStep | Mapping[str, Any]]]
    schedule_config: Required[NewScheduleConfig | Mapping[str, Any]]
    variables: Mapping[str, Any] | None
    timezone: str | None
    status: WorkflowStatus | str | None
    notifications: Sequence[str] | None


class RunWaitQueryFields(TypedDict, total=False):
    """How many seconds to wait for the end of the run."""

    wait: float


class WorkflowChangesFields(TypedDict, total=False):
    """Fields of a workflow to change. Targets that are sent back masked stay as they are."""

    name: str
    steps: Sequence[NewStep | Mapping[str, Any]]
    schedule_config: NewScheduleConfig | Mapping[str, Any]
    variables: Mapping[str, Any]
    timezone: str | None
    status: WorkflowStatus | str
    notifications: Sequence[str]


class WorkflowQueryFields(TypedDict, total=False):
    status: WorkflowStatus | str | None
    cursor: str | None
    limit: int


class WorkflowRunQueryFields(TypedDict, total=False):
    cursor: str | None
    limit: int
