"""The definition of a workflow: its steps, and when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.surfaces.workflows.vocabulary import Frequency, Mode, OnError, StepType

DEFAULT_RETRIES = 3
DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_RETRY_DELAY_SECONDS = 60.0


class Recurrence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cron expression, or a frequency with a time of the day."""

    cron: str | None = None
    frequency: Frequency | None = None
    time: str = ""
    weekdays: tuple[str, ...] = ()
    day: int | None = None


class ScheduleConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When a workflow runs. `scheduled_at` is an instant in microseconds."""

    mode: Mode
    delay_minutes: float | None = None
    scheduled_at: int | None = None
    recurrence: Recurrence | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step; the fields that its type does not have are None."""

    type: StepType
    name: str
    retries: int = DEFAULT_RETRIES
    retry_delay: float = DEFAULT_RETRY_DELAY_SECONDS
    timeout: float = DEFAULT_TIMEOUT_SECONDS
    on_error: OnError = OnError.STOP
    target: str | None = None
    title: str | None = None
    body: str | None = None
    recipients: tuple[dict[str, Any], ...] | None = None
    method: str | None = None
    url: str | None = None
    headers: dict[str, str] | None = None
    content: Any = None
    """The body of an HTTP request: text, or JSON."""
    seconds: float | None = None
    until: int | None = None
    task_id: str | None = None
    args: dict[str, Any] | None = None
    own_retries: bool = False
    """The retries were given for this step, and not left to the default."""
    own_timeout: bool = False


class Definition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of a workflow that a run needs. A run keeps the one with which it started."""

    name: str
    steps: tuple[Step, ...]
    variables: Mapping[str, Any] = {}
    notifications: tuple[str, ...] = ()
    trusted: bool = False
    """An admin has saved its steps and notifications: they may use secrets that declare no hosts."""


_definitions = msgspec.json.Decoder(Definition)
_configs = msgspec.json.Decoder(ScheduleConfig)


def read_definition(text: str) -> Definition:
    return _definitions.decode(text)


def read_config(text: str) -> ScheduleConfig:
    return _configs.decode(text)
