"""Services of the surfaces for code without an event loop: every coroutine of a service, blocking.

Derived at run time; `services.pyi`, which `make docs` generates from the services, has the static types.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from hanbeon.app import App
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
