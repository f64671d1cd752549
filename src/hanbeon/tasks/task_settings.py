"""The settings of a task's executions, as the database stores them."""

from __future__ import annotations

from hanbeon.domain.executions import TaskSettings
from hanbeon.tasks.options import duration_us
from hanbeon.tasks.task import TaskOptions


def settings_of(options: TaskOptions) -> TaskSettings:
    """Return what an instance without the task needs to create executions of it."""
    return TaskSettings(
        queue=options.queue,
        role=options.role,
        priority=options.priority,
        timeout_us=None if options.timeout is None else duration_us(options.timeout, "timeout"),
        policy=options.policy(),
    )
