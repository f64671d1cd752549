"""Work that a worker does beside its jobs: built-in tasks in slots of their own, and what makes jobs of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from hanbeon.tasks.task import Task


class PoolRelay(Protocol):
    """Makes the jobs of built-in tasks."""

    @property
    def listening(self) -> bool:
        """Whether there may be any such jobs soon; while not, nobody looks for them often."""
        ...

    @property
    def quiet_seconds(self) -> float: ...

    def look_again(self) -> None: ...

    async def run_once(self) -> float: ...


class TaskPool(NamedTuple):
    """`slots`: how many such jobs run at once, whatever else runs: neither kind takes a slot from the other."""

    tasks: Mapping[str, Task[..., Any]]
    slots: int
    relay: PoolRelay
