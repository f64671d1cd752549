"""The pool of the tasks that run operations: one task per library that the settings allow."""

from __future__ import annotations

import sys

from hanbeon.clock import Clock
from hanbeon.engine.pool import TaskPool
from hanbeon.errors import ProcessesUnsupported
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.surfaces.chains.operation_run import run_operation
from hanbeon.surfaces.chains.settings import libraries_of
from hanbeon.surfaces.chains.steps import task_of
from hanbeon.tasks.task import PROCESS, Task, TaskOptions


def chain_pool(store: Store, settings: Settings, clock: Clock) -> TaskPool | None:
    """Return the pool; None on a worker that allows no library, which has none of these tasks to claim."""
    names = [task_of(library) for library in libraries_of(settings)]
    if not names:
        return None
    if sys.platform != "linux":
        raise ProcessesUnsupported(Rule("chains_on_linux"))
    return TaskPool(
        name="chains",
        tasks={name: Task(name, run_operation, TaskOptions(executor=PROCESS)) for name in names},
        slots=settings.chain_concurrency,
        hints=("work",),
        listed=True,
    )
