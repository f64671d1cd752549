"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from hanbeon.domain.workflows.literals import Frequency, Mode, OnError, StepType, WorkflowStatus
from hanbeon.surfaces.workflows.schemas import Moment, NewRecurrence, NewScheduleConfig, NewStep


class DryRunFields(TypedDict, total=False):
    """Values for a dry run: variables, and outputs of steps by their names."""

    variables: Mapping[str, Any]
    outputs: Mapping[str, Any]


class NewExecutionFields(TypedDict, total=False):
    """A run beside the registered one, of a workflow of any status. Variables that are not given keep their default."""

    workflow_id: Required[str]
    variables: Mapping[str, Any]


class NewRecurrenceFields(TypedDict, total=False):
    """`weekdays` belong to weekly, `day` to monthly; the 29th to 31st mean the last day of a shorter month."""

    frequency: Required[Frequency | str]
    time: Required[str]
    weekdays: Sequence[str]
    day: int


class NewScheduleConfigFields(TypedDict, total=False):
    """When a workflow runs: one field beside the mode, or none for immediate."""

    mode: Required[Mode | str]
    delay_minutes: float
    scheduled_time: Moment
    recurrence: NewRecurrence | Mapping[str, Any]


class NewStepFields(TypedDict, total=False):
    """A step. message: target, title, body, recipients; http: method, url, headers, body; wait: seconds, minutes or"""

    type: Required[StepType | str]
    name: str
    retries: int
    retry_delay: float
    timeout: float
    on_error: OnError | str
    target: str
    title: str
    body: Any
    recipients: Sequence[Mapping[str, Any]]
    method: str
    url: str
    headers: Mapping[str, str]
    seconds: float
    minutes: float
    until: Moment
    task_id: str
    args: Mapping[str, Any]


class NewWorkflowFields(TypedDict, total=False):
    """A workflow; a draft unless its status says otherwise."""

    name: Required[str]
    steps: Required[Sequence[NewStep | Mapping[str, Any]]]
    schedule_config: Required[NewScheduleConfig | Mapping[str, Any]]
    variables: Mapping[str, Any]
    timezone: str | None
    status: WorkflowStatus | str
    notifications: Sequence[str]


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
