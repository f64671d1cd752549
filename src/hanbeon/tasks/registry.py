"""The tasks of one App, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hanbeon.domain.job import RESERVED
from hanbeon.domain.reserved_queues import check_not_reserved
from hanbeon.errors import TaskDefinitionError, UnknownTask
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.tasks.task import Task

Tasks = Mapping[str, Task[..., Any]]


class Registry:
    """Tasks that code registers one by one, and whole sets that come from elsewhere and can be replaced."""

    def __init__(self) -> None:
        self._own: dict[str, Task[..., Any]] = {}
        self._sets: dict[str, Tasks] = {}
        self._tasks: Tasks = {}

    def add(self, task: Task[..., Any]) -> None:
        """A name belongs to one function; two modules that claim it are a mistake, not an override."""
        _check(self._tasks, task)
        self._own[task.name] = task
        self._put_in_force()

    def check(self, origin: str, tasks: Iterable[Task[..., Any]]) -> Tasks:
        """Reject a set in which a name is already taken; return all tasks as they would be with it."""
        others = self._without(origin)
        tasks = list(tasks)
        for task in tasks:
            _check(others, task)
        return {**others, **{task.name: task for task in tasks}}

    def replace(self, origin: str, tasks: Iterable[Task[..., Any]]) -> None:
        """Put all the tasks of an origin in force instead of its last ones, or none of them.

        If code has registered a task too, the set takes precedence: its options are in force.
        """
        tasks = list(tasks)
        self.check(origin, tasks)
        self._sets[origin] = {task.name: task for task in tasks}
        self._put_in_force()

    def get(self, name: str) -> Task[..., Any]:
        task = self._tasks.get(name)
        if task is None:
            rule = Rule("task_not_registered", task=quoted(name), nearest=suggested(name, self._tasks))
            raise UnknownTask(rule, field="task")
        return task

    @property
    def by_name(self) -> Tasks:
        return self._tasks

    def names(self) -> list[str]:
        return sorted(self._tasks)

    def __iter__(self) -> Iterator[Task[..., Any]]:
        return iter(self._tasks.values())

    def _without(self, origin: str) -> Tasks:
        tasks = dict(self._own)
        for each, more in self._sets.items():
            tasks |= more if each != origin else {}
        return tasks

    def _put_in_force(self) -> None:
        # A new mapping, never a changed one: an iteration over the old one may be under way.
        self._tasks = self._without("")


def _check(known: Tasks, task: Task[..., Any]) -> None:
    if task.name.startswith(RESERVED):
        raise TaskDefinitionError(Rule("reserved_task_name", prefix=RESERVED, where=task.where), field="name")
    # Its schedules create jobs there without any request that could be refused.
    check_not_reserved(task.options.queue)
    other = known.get(task.name)
    if other is not None and not other.is_same(task):
        raise TaskDefinitionError(
            Rule("task_registered_twice", task=quoted(task.name), other=other.where, where=task.where)
        )
