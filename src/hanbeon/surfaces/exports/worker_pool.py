"""The pool of the tasks that render exports, on workers that can."""

from __future__ import annotations

import sys

from hanbeon.clock import Clock
from hanbeon.domain.exports.jobs import JobType, task_of
from hanbeon.engine.pool import TaskPool
from hanbeon.rendering.libraries import is_installed
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.surfaces.exports.export_run import run_export
from hanbeon.tasks.task import PROCESS, Task, TaskOptions


def export_pool(store: Store, settings: Settings, clock: Clock) -> TaskPool | None:
    """Return the pool; None on a worker without the extra `render`, or without processes that can be killed."""
    if not is_installed() or sys.platform != "linux":
        return None
    names = [task_of(each) for each in JobType]
    return TaskPool(
        name="exports",
        tasks={name: Task(name, run_export, TaskOptions(executor=PROCESS)) for name in names},
        slots=settings.export_concurrency,
        hint="work",
        listed=True,
    )
