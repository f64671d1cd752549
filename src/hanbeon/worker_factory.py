"""Workers of an App: one for all its work, or one for a single surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from hanbeon.clock import Clock
from hanbeon.config.file import ConfigFile
from hanbeon.config.source import FileSource
from hanbeon.engine.poller import Poller
from hanbeon.engine.stream.wire import Wire
from hanbeon.engine.worker import Worker, default_name
from hanbeon.events.hub import Hub
from hanbeon.executors.executor import Executor
from hanbeon.extras import check_extra
from hanbeon.host import Host
from hanbeon.messages import Messenger
from hanbeon.outbound.secrets import Secrets
from hanbeon.setting_fields import CONCURRENCY_MAX
from hanbeon.settings import Settings, load_settings
from hanbeon.store.store import Store
from hanbeon.surfaces.surface import Declarations, Surface, load
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.task import HTTP


class WorkerApp(Protocol):
    """The part of an open App that its workers need."""

    clock: Clock
    declared: dict[str, Declarations]
    file: ConfigFile | None
    given: dict[str, Any]
    host: Host
    messenger: Messenger
    secrets: Secrets
    settings: Settings
    surfaces: tuple[Surface, ...]
    tasks: Registry

    @property
    def store(self) -> Store: ...

    @property
    def hub(self) -> Hub: ...


MakeWorker = Callable[..., Worker]


def whole_worker(app: WorkerApp, concurrency: int | None, name: str | None) -> Worker:
    """Create a worker for the tasks of an App, with the pools of all surfaces."""
    changes: dict[str, Any] = {} if concurrency is None else {"concurrency": concurrency}
    settings = load_settings(**app.settings.model_dump() | changes) if changes else app.settings
    source = None
    if app.file is not None:
        source = FileSource(app.file, app.tasks, app.declared, app.secrets, app.given | changes)
    for each in app.declared.values():
        each.resolved(app.tasks, settings)  # Reject invalid declarations now, not when the worker runs.
    if any(task.executor == HTTP for task in app.tasks):
        check_extra("http", "a worker of HTTP tasks", "httpcore2")  # Now: its jobs would fail one after the other.
    # A reloaded file may raise the concurrency. Threads are created as they are needed.
    threads = settings.concurrency if source is None else CONCURRENCY_MAX
    _, make = _worker(app, settings, app.surfaces, threads)
    wire = None if settings.redis_url is None else Wire(settings.redis_url, name or default_name())
    declare = None if app.file is None else partial(_apply, app, app.file)
    return make(name=name, source=source, wire=wire, declare=declare)


def surface_worker(
    app: WorkerApp, name: str, settings: Settings, queues: Sequence[str]
) -> tuple[Worker, Sequence[Executor]]:
    """Create a worker for the built-in tasks of one surface, and for the jobs of tasks in these queues.

    It is for a call that drives the surface in this process, and does nothing for others.
    """
    surfaces = [each for each in app.surfaces if each.name == name]
    executors, make = _worker(app, settings, surfaces, settings.concurrency)
    return make(queues=queues), executors


def _worker(
    app: WorkerApp, settings: Settings, surfaces: Sequence[Surface], threads: int
) -> tuple[list[Executor], MakeWorker]:
    executors, http, blocking = app.host.executors(settings, app.clock, app.tasks, threads)
    for surface in surfaces:
        if surface.executor is not None:
            # First, because it must end before the executors that it uses.
            executors.insert(0, load(surface.executor)(app.store, http, blocking, app.messenger))
    pools = [load(each.pool)(app.store, settings, app.clock) for each in surfaces if each.pool is not None]
    given_to = (app.store, app.hub, app.tasks, settings, app.clock, executors)
    pollers = [_poller(app, settings, each) for each in surfaces if each.poller is not None]
    return executors, partial(
        Worker, *given_to, pools=pools, pollers=pollers, mask=app.secrets.mask, watched=app.host.watched
    )


def _poller(app: WorkerApp, settings: Settings, surface: Surface) -> Poller:
    assert surface.poller is not None
    declared = app.declared.get(surface.name)
    resolved = tuple if declared is None else partial(declared.resolved, app.tasks, settings)
    poller: Poller = load(surface.poller)(app.store, settings, app.clock, resolved)
    return poller


async def _apply(app: WorkerApp, file: ConfigFile) -> None:
    """Put the sections of surfaces in force that no poller declares."""
    for each in app.surfaces:
        if each.apply is not None and (content := file.surfaces.get(each.name)):
            await load(each.apply)(getattr(app, each.name), content)
