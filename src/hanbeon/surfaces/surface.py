"""A surface, declared once: its service, operations, and what it adds to worker, verify and configuration."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

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
    commands: Sequence[Command] = ()
    pool: Reference | None = None
    """`(store, settings, clock) → TaskPool`: built-in tasks that a worker runs in slots of their own; None for none."""
    executor: Reference | None = None
    """`(store, http, blocking, messenger) → Executor`: runs the bodies of the pool's tasks, on the worker's own."""
    verify: Reference | None = None
    """Its `SurfaceAudit`: its part of `hanbeon verify`."""
    config: Reference | None = None
    """`(value, reader) → declarations`: reads the section of `hanbeon.toml` with the surface's name."""
    metrics: Reference | None = None
    """Its `SurfaceMetrics`."""
    store: Reference | None = None
    """Its `StorePart`: tables and statements of its own."""
    queues: Sequence[Reference] = ()
    """Names in modules that reserve queues when they are imported; see `domain/reserved_queues.py`."""
    end_hook: Reference | None = None
    """Its `EndHook`: writes in the transaction in which a job of its tasks ends, whoever ends it."""
    retention: Reference | None = None
    """Its `Retention`: rows of its own that are deleted with their jobs, or by their age."""
    job_place: Reference | None = None
    """`(job) → JobPlace | None`: where a job of this surface is found, for operators; None: it is not of this one."""
    docs: str = ""
    """Its page in `docs/`."""

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
