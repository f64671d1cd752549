"""The pool of the tasks that render exports, on workers that can."""

from __future__ import annotations

import sys
from typing import Any

from hanbeon.clock import Clock
from hanbeon.engine.pool import TaskPool
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.surfaces.exports.export_run import run_export
from hanbeon.surfaces.exports.jobs import JobType, task_of
from hanbeon.surfaces.exports.paths import export_root
from hanbeon.surfaces.exports.rendering.libraries import is_installed
from hanbeon.surfaces.exports.stream_call import ExportCall
from hanbeon.tasks.task import PROCESS, Task, TaskOptions


def export_pool(store: Store, settings: Settings, clock: Clock) -> TaskPool | None:
    """Return the pool; None on a worker without the extra `render`, or without processes that can be killed.

    With Redis, stream workers render, and this one only talks to them.
    """
    if settings.redis_url is not None:
        call = ExportCall(root=str(export_root(settings)))
        tasks: dict[str, Task[..., Any]] = {name: Task(name, call, TaskOptions()) for name in map(task_of, JobType)}
        return TaskPool(name="exports", tasks=tasks, slots=1, hints=("work",), listed=True)
    if not is_installed() or sys.platform != "linux":
        return None
    names = [task_of(each) for each in JobType]
    return TaskPool(
        name="exports",
        tasks={name: Task(name, run_export, TaskOptions(executor=PROCESS)) for name in names},
        slots=settings.export_concurrency,
        hints=("work",),
        listed=True,
    )
