"""The pool of runs of workflows, with the bodies of its tasks: slots of its own; a run that waits holds none."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from hanbeon.clock import Clock
from hanbeon.engine.pool import TaskPool
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.surfaces.workflows.vocabulary import NOTICE_TASK, TASK
from hanbeon.tasks.parameters import Parameters
from hanbeon.tasks.task import Task, TaskOptions

WORKFLOWS = "workflows"
"""The executor that runs them."""


class RunSpec(msgspec.Struct, frozen=True):
    executor: ClassVar[str] = WORKFLOWS

    def signature(self, task: str) -> Parameters:
        return Parameters(task, {}, ())

    def __str__(self) -> str:
        return "a run of a workflow"


class NoticeSpec(msgspec.Struct, frozen=True):
    executor: ClassVar[str] = WORKFLOWS

    def signature(self, task: str) -> Parameters:
        return Parameters(task, {"run_id": "string", "number": "integer"}, ())

    def __str__(self) -> str:
        return "a message about a failed run of a workflow"


_TASKS: dict[str, Task[..., object]] = {
    TASK: Task(TASK, RunSpec(), TaskOptions()),
    NOTICE_TASK: Task(NOTICE_TASK, NoticeSpec(), TaskOptions()),
}


def workflow_pool(store: Store, settings: Settings, clock: Clock) -> TaskPool:
    return TaskPool(name="workflows", tasks=_TASKS, slots=settings.workflow_concurrency, hints=("work",))
