"""The pool of runs of workflows: every worker has it, with slots of its own. A run that waits holds none."""

from __future__ import annotations

from hanbeon.clock import Clock
from hanbeon.engine.pool import TaskPool
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.surfaces.workflows.literals import NOTICE_TASK, TASK
from hanbeon.surfaces.workflows.specs import NoticeSpec, RunSpec
from hanbeon.tasks.task import Task, TaskOptions

_TASKS: dict[str, Task[..., object]] = {
    TASK: Task(TASK, RunSpec(), TaskOptions()),
    NOTICE_TASK: Task(NOTICE_TASK, NoticeSpec(), TaskOptions()),
}


def workflow_pool(store: Store, settings: Settings, clock: Clock) -> TaskPool:
    return TaskPool(name="workflows", tasks=_TASKS, slots=settings.workflow_concurrency, hints=("work",))
