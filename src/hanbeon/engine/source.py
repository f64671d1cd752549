"""Where a worker's tasks, queues and settings come from, if that can be read again while it works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

Declared = Mapping[str, Mapping[str, Any]]


class SourceChange(NamedTuple):
    """What a source says now. Nothing of it is in force before `put_in_force` is called, which cannot fail."""

    queues: Declared
    settings: Mapping[str, Any]
    """Those with another value than before."""
    tasks: Mapping[str, list[str]]
    """The names of those that were added, changed and removed."""
    also: tuple[str, ...]
    """What else has changed, and cannot change in a process that runs."""
    put_in_force: Callable[[], None]


class TaskSource(Protocol):
    """What `Worker` asks of it."""

    @property
    def name(self) -> str: ...

    @property
    def queues(self) -> Declared:
        """The limits that it declares, as it was last put in force."""
        ...

    def read(self) -> SourceChange:
        """Read again, in any thread; raises a HanbeonError if it does not fit."""
        ...
