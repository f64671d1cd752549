"""The database of a simulation: a real one, of each run alone."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hanbeon.host import Host
    from hanbeon.testing.simulation.world import World


class SimulatedDatabase(Protocol):
    """The database of one run."""

    url: str
    host: Host
    """What a process gets from its host to reach it."""
    most_at_rest: int
    """Open connections of a process at rest, at most."""

    def rows(self, sql: str, *args: Any) -> list[tuple[Any, ...]]:
        """Read what is committed, at once, with SQLite's names of tables, `hanbeon_job`, and its parameters, `?`."""
        ...


class SimulatedStore(Protocol):
    """Makes a database for each run, as a copy of a template."""

    def prepare(self, folder: Path) -> None:
        """Make the template."""
        ...

    def warm(self) -> None:
        """Load what each run would load again."""
        ...

    def database(self, folder: Path, run: Path, world: World) -> AbstractContextManager[SimulatedDatabase]:
        """Make a copy of the template of `folder` in the folder of a run."""
        ...
