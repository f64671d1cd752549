"""Hanbeon (한번, "once"): durable jobs, each exactly once, said honestly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.connection import connect
    from hanbeon.domain.lifecycle import State
    from hanbeon.domain.log import LogCut, LogLine
    from hanbeon.domain.timing.recurrence import daily, monthly, weekly
    from hanbeon.error_base import HanbeonError
    from hanbeon.job import Job
    from hanbeon.surfaces.chains.job import ChainJob
    from hanbeon.surfaces.installation import Installation
    from hanbeon.sync.app import SyncApp
    from hanbeon.sync.job import SyncJob
    from hanbeon.tasks.context import Context, SyncContext, current
    from hanbeon.tasks.request import JobRequest
    from hanbeon.tasks.task import Task
    from hanbeon.work_errors import JobCancelled, JobFailed, PermanentError, SoftTimeout, TaskError

__all__ = [
    "App",
    "ChainJob",
    "Context",
    "HanbeonError",
    "Installation",
    "Job",
    "JobCancelled",
    "JobFailed",
    "JobRequest",
    "LogCut",
    "LogLine",
    "PermanentError",
    "SoftTimeout",
    "State",
    "SyncApp",
    "SyncContext",
    "SyncJob",
    "Task",
    "TaskError",
    "connect",
    "current",
    "daily",
    "monthly",
    "weekly",
]

# Where each name is defined. It is imported on first use: the command line must not load two database drivers to
# print its help. `tests/cli/test_public_names.py` holds this table against the imports above.
_HOMES = {
    "App": "app",
    "ChainJob": "surfaces.chains.job",
    "Context": "tasks.context",
    "HanbeonError": "error_base",
    "Installation": "surfaces.installation",
    "Job": "job",
    "JobCancelled": "work_errors",
    "JobFailed": "work_errors",
    "JobRequest": "tasks.request",
    "LogCut": "domain.log",
    "LogLine": "domain.log",
    "PermanentError": "work_errors",
    "SoftTimeout": "work_errors",
    "State": "domain.lifecycle",
    "SyncApp": "sync.app",
    "SyncContext": "tasks.context",
    "SyncJob": "sync.job",
    "Task": "tasks.task",
    "TaskError": "work_errors",
    "connect": "connection",
    "current": "tasks.context",
    "daily": "domain.timing.recurrence",
    "monthly": "domain.timing.recurrence",
    "weekly": "domain.timing.recurrence",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"hanbeon.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
