"""The source of a worker's tasks, queues and settings, if it can be reloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

Declared = Mapping[str, Mapping[str, Any]]


class SourceChange(NamedTuple):
    """The contents of a reloaded source. They are in force once `put_in_force` is called, which cannot fail."""

    queues: Declared
    settings: Mapping[str, Any]
    """Those with another value than before."""
    tasks: Mapping[str, list[str]]
    """The names of those that were added, changed and removed."""
    also: tuple[str, ...]
    """Other changes, which need a restart."""
    put_in_force: Callable[[], None]


class TaskSource(Protocol):
    """The interface that `Worker` uses."""

    @property
    def name(self) -> str: ...

    @property
    def queues(self) -> Declared:
        """The limits that it declares, as it was last put in force."""
        ...

    def read(self) -> SourceChange:
        """Read again, in any thread; raises a HanbeonError if it is invalid."""
        ...
