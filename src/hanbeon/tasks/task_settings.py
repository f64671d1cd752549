"""How executions of a task run, in the words that the database keeps."""

from __future__ import annotations

from hanbeon.domain.schedules.definition import TaskSettings
from hanbeon.tasks.options import duration_us
from hanbeon.tasks.task import TaskOptions


def settings_of(options: TaskOptions) -> TaskSettings:
    """What others need to know who make executions of the task without having it."""
    return TaskSettings(
        queue=options.queue,
        role=options.role,
        priority=options.priority,
        timeout_us=None if options.timeout is None else duration_us(options.timeout, "timeout"),
        policy=options.policy(),
    )
