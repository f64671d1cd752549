"""Services of the surfaces for code without an event loop: every coroutine of a service, blocking.

Derived at run time; `services.pyi`, which `make docs` generates from the services, has the static types.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from hanbeon.app import App
from hanbeon.surfaces.surface import load
from hanbeon.sync.background import Background


class SyncService:
    """The service `name` of an App in the background."""

    def __init__(self, background: Background, name: str) -> None:
        self._background, self._name = background, name
        (surface,) = (each for each in App.surfaces if each.name == name)
        self._service: type[Any] = load(surface.service)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._service, name, None)
        if name.startswith("_") or not inspect.iscoroutinefunction(method):
            raise AttributeError(f"{self._name!r} has no method {name!r} for code without an event loop", name=name)

        @functools.wraps(method)
        def call(*args: Any, **keywords: Any) -> Any:
            return self._background.run(lambda app: getattr(getattr(app, self._name), name)(*args, **keywords))

        return call

    def __dir__(self) -> list[str]:
        return sorted(
            name
            for name, each in inspect.getmembers(self._service, inspect.iscoroutinefunction)
            if not name.startswith("_")
        )
