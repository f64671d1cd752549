"""A worker as an instance in the database: registered with what it has and declares, kept alive by heartbeats."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hanbeon.clock import micros
from hanbeon.engine.poller import Poller
from hanbeon.executors.executor import Executor
from hanbeon.settings import Settings
from hanbeon.store.operations import instances as instance_rows
from hanbeon.store.operations.instances import Beat, NewInstance, register
from hanbeon.store.operations.tasks import follow, register_tasks
from hanbeon.store.store import Store
from hanbeon.tasks.registry import Registry, Tasks
from hanbeon.tasks.task import Task, registration_of


class ServedTasks(Mapping[str, Task[..., Any]]):
    """A live view of the registered tasks for which this worker has an executor.

    `remote`: also of those that only stream workers can do.
    """

    def __init__(self, registry: Registry, executors: Mapping[str, Executor], *, remote: bool = False) -> None:
        self._registry, self._executors, self._remote = registry, executors, remote

    def __getitem__(self, name: str) -> Task[..., Any]:
        return self._registry.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return (task.name for task in self._registry if self._serves(task))

    def _serves(self, task: Task[..., Any]) -> bool:
        return task.executor in self._executors and (self._remote or not task.is_remote)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Instance:
    """`id` is the number by which the other instances know this worker; 0 before it is registered."""

    def __init__(
        self, name: str, store: Store, tasks: Tasks, pollers: Sequence[Poller], built_in: Sequence[str] = ()
    ) -> None:
        """`built_in`: tasks that it has by its settings. They are not declared: no user may schedule or run them."""
        self.name, self.id = name, 0
        self._built_in = built_in
        self._store, self._tasks, self._pollers = store, tasks, pollers

    async def register(self, settings: Settings) -> None:
        """Declare the tasks and what surfaces declare, then take a number among the instances."""
        from importlib.metadata import version  # Workers alone need it, and it loads much.

        await self.declare(settings)
        self.id = await self._store.write(
            lambda tx: register(
                tx,
                NewInstance(
                    self.name,
                    socket.gethostname(),
                    os.getpid(),
                    version("hanbeon"),
                    self._all_tasks,
                    settings.concurrency,
                    self._declared,
                ),
            )
        )

    @property
    def _all_tasks(self) -> list[str]:
        return [*self._tasks, *self._built_in]

    @property
    def _declared(self) -> list[str]:
        return [name for poller in self._pollers for name in poller.declared]

    async def declare(self, settings: Settings) -> None:
        """Put the tasks' settings and the declarations in force, as this worker has them now."""
        served = {name: registration_of(task) for name, task in self._tasks.items()}
        for job in await self._store.write(lambda tx: register_tasks(tx, served, self.name)):
            await self._store.write(partial(follow, job=job))
        for poller in self._pollers:
            await poller.declare(self.name, micros(settings.lease))

    async def beat(self, running: int, concurrency: int) -> Beat:
        """Report that this worker is alive, and return if the database still knows it and if it must drain."""
        return await self._store.write(
            lambda tx: instance_rows.beat(tx, self.id, running, self._all_tasks, concurrency, self._declared)
        )
