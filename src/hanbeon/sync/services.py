"""Coroutines as blocking methods: those of an App, of a job, and of the service of each surface.

Derived at run time; `services.pyi`, which `make docs` generates from them, has the static types.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from hanbeon.app import App
from hanbeon.job import Job
from hanbeon.surfaces.surface import Surface, load
from hanbeon.sync.background import Background


class SyncService:
    """The service `name` of an App in the background."""

    def __init__(self, background: Background, name: str) -> None:
        self._background, self._name = background, name
        (surface,) = (each for each in App.surfaces if each.name == name)
        self._methods = blocking_methods(surface)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = None if name.startswith("_") else self._methods.get(name)
        if method is None:
            raise AttributeError(f"{self._name!r} has no method {name!r} for code without an event loop", name=name)

        @functools.wraps(method)
        def call(*args: Any, **keywords: Any) -> Any:
            return self._background.run(lambda app: getattr(getattr(app, self._name), name)(*args, **keywords))

        return call

    def __dir__(self) -> list[str]:
        return sorted(self._methods)


def blocking_methods(surface: Surface) -> dict[str, Callable[..., Any]]:
    """The coroutines of a service, except those that serve a channel, which only a server needs."""
    served = {channel.call for channel in surface.channels}
    return {
        name: method
        for name, method in inspect.getmembers(load(surface.service), inspect.iscoroutinefunction)
        if not name.startswith("_") and name not in served
    }


OWN = {App: frozenset(("open", "close", "migrate", "enqueue", "enqueue_many")), Job: frozenset(("wait", "result"))}
"""Coroutines that `SyncApp` and `SyncJob` write out: they run in the caller's thread, or wait over a fork."""


def derived(kind: type) -> dict[str, Callable[..., Any]]:
    """The public coroutines of a class except those that its twin writes out."""
    found = inspect.getmembers(kind, inspect.iscoroutinefunction)
    return {name: method for name, method in found if not name.startswith("_") and name not in OWN[kind]}


class BlockingApp:
    """The coroutines of `App`, blocking, and the services of the surfaces as attributes."""

    _background: Background

    def __getattr__(self, name: str) -> Any:
        background = self.__dict__.get("_background")
        if background is None or all(surface.name != name for surface in App.surfaces):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return SyncService(background, name)


class BlockingJob:
    """The coroutines of `Job`, blocking."""

    _background: Background
    id: str
    _task: Any


def _id(value: Any) -> Any:
    """An App knows no blocking jobs."""
    return value.id if isinstance(value, BlockingJob) else value


def _call_app(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: BlockingApp, *args: Any, **keywords: Any) -> Any:
        ids = [_id(each) for each in args]
        named = {each: _id(value) for each, value in keywords.items()}
        return self._background.run(lambda app: getattr(app, name)(*ids, **named))

    return call


def _call_job(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: BlockingJob, *args: Any, **keywords: Any) -> Any:
        return self._background.run(lambda app: getattr(Job(app, self.id, self._task), name)(*args, **keywords))

    return call


for _name, _method in derived(App).items():
    setattr(BlockingApp, _name, _call_app(_name, _method))
for _name, _method in derived(Job).items():
    setattr(BlockingJob, _name, _call_job(_name, _method))
