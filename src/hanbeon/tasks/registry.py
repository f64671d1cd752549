"""The tasks of one App, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hanbeon.errors import TaskDefinitionError, UnknownTask
from hanbeon.tasks.options import did_you_mean
from hanbeon.tasks.task import Task


class Registry:
    def __init__(self) -> None:
        self._tasks: dict[str, Task[..., Any]] = {}

    def add(self, task: Task[..., Any]) -> None:
        """A name belongs to one function; two modules that claim it are a mistake, not an override."""
        known = self._tasks.get(task.name)
        if known is not None and not known.is_same(task):
            raise TaskDefinitionError(
                f"task {task.name!r} is registered already, by {known.where}; give {task.where} a name of its own"
            )
        self._tasks[task.name] = task

    def get(self, name: str) -> Task[..., Any]:
        task = self._tasks.get(name)
        if task is None:
            hint = did_you_mean(name, self._tasks) or "; register it with @app.task before enqueuing"
            raise UnknownTask(f"no task {name!r} is registered{hint}", field="task")
        return task

    def names(self) -> list[str]:
        return sorted(self._tasks)

    def __iter__(self) -> Iterator[Task[..., Any]]:
        return iter(self._tasks.values())
