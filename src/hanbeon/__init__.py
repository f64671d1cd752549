"""Hanbeon (한번, "once"): durable jobs, each exactly once, said honestly."""

from hanbeon.app import App
from hanbeon.domain.lifecycle import State
from hanbeon.errors import HanbeonError, JobCancelled, JobFailed, PermanentError, TaskError
from hanbeon.job import Job
from hanbeon.tasks.context import Context, SyncContext
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import Task

__all__ = [
    "App",
    "Context",
    "HanbeonError",
    "Job",
    "JobCancelled",
    "JobFailed",
    "JobRequest",
    "PermanentError",
    "State",
    "SyncContext",
    "Task",
    "TaskError",
]
