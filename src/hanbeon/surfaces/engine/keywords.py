"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from hanbeon.domain.access import Scope
from hanbeon.domain.lifecycle import State
from hanbeon.surfaces.engine.schemas import BulkAction, JobFilter


class ActionQueryFields(TypedDict, total=False):
    """Newest first."""

    user: str
    cursor: str | None
    limit: int


class BulkFields(TypedDict, total=False):
    """Cancel or retry the jobs that match, a batch at a time: ask again while `more` is true."""

    action: Required[BulkAction | str]
    filter: Required[JobFilter | Mapping[str, Any]]
    dry_run: bool | None
    cursor: str | None


class DeadLetterQueryFields(TypedDict, total=False):
    """By stream, the newest first."""

    cursor: str | None
    limit: int


class EngineJobQueryFields(TypedDict, total=False):
    """A page of the jobs that match, newest first. It looks at 50,000 jobs at most, and may be empty before the end."""

    state: Sequence[State | str] | State | str | None
    queue: str | None
    task: str | None
    role: str | None
    key: str | None
    id: str | None
    text: str | None
    failure_type: str | None
    created_after: str | None
    created_before: str | None
    own: bool | None
    cursor: str | None
    limit: int


class EngineLogQueryFields(TypedDict, total=False):
    """Lines after the place `after`, of one attempt or of all."""

    attempt: int
    after: str
    limit: int


class EngineMarkDoneFields(TypedDict, total=False):
    """Why a job that failed or was cancelled is done all the same, and its result, if there is one."""

    comment: Required[str]
    result: Any


class EnginePriorityFields(TypedDict, total=False):
    """Lower runs before higher, urgent before all others."""

    priority: int
    urgent: bool


class EngineRetryFields(TypedDict, total=False):
    """A comment for the next attempts of a job that is retried, and other arguments for them."""

    comment: str | None
    args: Mapping[str, Any] | None


class FailureQueryFields(TypedDict, total=False):
    """The latest failures, grouped. `seconds`: how far back, at most a week."""

    seconds: int
    limit: int


class JobFilterFields(TypedDict, total=False):
    """Jobs that match every given field. `state`: one or several; `key`: a concurrency, unique or idempotency key."""

    state: Sequence[State | str] | State | str | None
    queue: str | None
    task: str | None
    role: str | None
    key: str | None
    id: str | None
    text: str | None
    failure_type: str | None
    created_after: str | None
    created_before: str | None
    own: bool | None


class NewEngineJobFields(TypedDict, total=False):
    """A job of a registered task. `copy_of`: with the settings of that job, and its arguments unless others come."""

    task: str | None
    args: Mapping[str, Any] | None
    copy_of: str | None
    queue: str | None
    role: str | None
    priority: int | None
    urgent: bool | None
    delay: float | None
    timeout_ms: int | None
    expires: float | str | None
    max_retries: int | None


class NewTokenRequestFields(TypedDict, total=False):
    """From the first token on, every client needs one."""

    user: Required[str]
    scope: Required[Scope | str]


class QueueChangeFields(TypedDict, total=False):
    """Fields that are left out stay. 0 is no limit; null removes the limit of a role or key."""

    max_concurrent: int
    max_per_key: int
    roles: Mapping[str, int]
    keys: Mapping[str, int]
    paused: bool


class QueueQueryFields(TypedDict, total=False):
    """By name. `name`: a part of it, in any case. `window`: the seconds of activity to count, a week at most."""

    name: str | None
    window: int
    cursor: str | None
    limit: int


class StatisticsQueryFields(TypedDict, total=False):
    """From `from` to `to`, in steps of `step` seconds; the last hour by default. Minutes are kept for a day."""

    start: str
    end: str
    step: int
    queue: str
