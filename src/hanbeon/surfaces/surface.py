"""A surface, declared once: its service, operations, and what it adds to worker, verify and configuration."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from hanbeon.store.tx import Tx
    from hanbeon.surfaces.operation import Channel, Operation

Reference = str
"""`module:name`, imported when it is used: clients and `--help` read declarations without an engine."""


class Command(NamedTuple):
    """A command of the command line: its name, the beginning of its help, and where it is."""

    name: str
    help: str
    section: str
    """The title that it stands under in `hanbeon --help`."""
    reference: Reference


class FileSection(NamedTuple):
    """The section of a surface in `hanbeon.toml`."""

    read: Callable[[Any, Any], Any]
    """`(value, reader)`: returns the content, and leaves the problems with the reader."""
    check: Callable[[Any, Iterable[Any], Any], None] | None = None
    """`(value, tasks, reader)`: checks the section against the tasks of the same file."""
    is_alias: bool = False
    """The content is settings, under a name that users look for."""
    tasks: Callable[[Any], Mapping[str, str]] = lambda _: {}
    """The task that each table of a section names, also of one that is invalid otherwise."""


class Declarations(Protocol):
    """Declarations of an App and its files for a surface, by origin."""

    @property
    def tasks(self) -> Mapping[str, str]:
        """The task that each declaration names."""

    def declare(self, name: str, fields: Mapping[str, Any]) -> None:
        """Declare one in code."""

    def check(self, origin: str, content: Iterable[Any], tasks: Any, settings: Any) -> None:
        """Raise if this content of an origin could not replace what it has declared."""

    def replace(self, origin: str, content: Iterable[Any]) -> None:
        """Replace what an origin declares."""

    def resolved(self, tasks: Any, settings: Any) -> Sequence[Any]:
        """Return all declarations, checked against the tasks and the settings."""


class JobPlace(NamedTuple):
    """The path of a job in its surface. `moves`: operators may cancel, retry and reprioritise it as a job.

    `private`: its result is its owner's and shown by that surface alone.
    `exists` tells if the surface still moves one that operators may not: its owner may have been deleted.
    """

    path: str | None
    moves: bool = True
    private: bool = False
    exists: Callable[[Tx], Awaitable[bool]] | None = None


class Surface(NamedTuple):
    """Everything that server, worker, verify, config, docs and tests know of a surface."""

    name: str
    """Also the attribute of `App` under which its service is found."""
    title: str
    """One line for the documentation."""
    service: Reference
    api: str
    """The module with its OPERATIONS and CHANNELS, imported when they are used: `--help` needs neither."""
    errors: str = ""
    """The module with its errors, which are also found in `hanbeon.errors`."""
    statuses: tuple[tuple[str, int], ...] = ()
    """Error codes whose HTTP status is not that of their kind, and that status."""
    settings: Reference = ""
    """Its `DeclaredFields`: settings of the installation, beside those of the engine."""
    commands: Sequence[Command] = ()
    pool: Reference | None = None
    """`(store, settings, clock) → TaskPool`: built-in tasks that a worker runs in slots of their own; None for none."""
    executor: Reference | None = None
    """`(store, http, blocking, messenger) → Executor`: runs the bodies of the pool's tasks, on the worker's own."""
    verify: Reference | None = None
    """Its `SurfaceAudit`: its part of `hanbeon verify`."""
    poller: Reference | None = None
    """`(store, settings, clock, declared) → Poller`: what every worker polls for beside jobs."""
    file: Reference | None = None
    """Its `FileSection`: the section of `hanbeon.toml` with the surface's name."""
    declarations: Reference | None = None
    """`() → Declarations`: what code and files declare, which the poller puts in force."""
    apply: Reference | None = None
    """`(service, content) → awaitable`: puts the content of the section in force when a worker starts, instead."""
    metrics: Reference | None = None
    """Its `SurfaceMetrics`."""
    store: Reference | None = None
    """Its `StorePart`: tables and statements of its own."""
    queues: Sequence[Reference] = ()
    """Names in modules that reserve queues when they are imported; see `domain/reserved_queues.py`."""
    end_hook: Reference | None = None
    """Its `EndHook`: writes in the transaction in which a job of its tasks ends, in any process."""
    retention: Reference | None = None
    """Its `Retention`: rows of its own that are deleted with their jobs, or by their age."""
    job_place: Reference | None = None
    """`(job) → JobPlace | None`: where a job of this surface is found, for operators; None: it is not of this one."""
    docs: str = ""
    """Its page in `docs/`."""

    @property
    def rules(self) -> Path:
        """The file of the rules that it alone has, as `hanbeon/rules.json` is; there may be none."""
        package = sys.modules[self.api.rpartition(".")[0]]
        return Path(cast(str, package.__file__)).with_name("rules.json")

    @property
    def operations(self) -> Sequence[Operation]:
        return cast(Sequence["Operation"], importlib.import_module(self.api).OPERATIONS)

    @property
    def channels(self) -> Sequence[Channel]:
        return cast(Sequence["Channel"], getattr(importlib.import_module(self.api), "CHANNELS", ()))


def load(reference: Reference) -> Any:
    """Import what a reference names."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def reserve_queues(surfaces: Iterable[Surface]) -> None:
    """Import the modules that reserve the surfaces' queues."""
    for reference in (reference for surface in surfaces for reference in surface.queues):
        load(reference)
