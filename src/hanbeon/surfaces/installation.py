"""An installation: the service of each surface as an attribute, beside a database or over a server.

`installation.pyi`, which `make docs` generates from the registry, has the static types.
"""

from __future__ import annotations

import abc
from typing import Any

from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface


class Installation(abc.ABC):
    """Base of `App` and of the installation behind a server; `connect` returns one or the other.

    `engine`, `offices`, `schedules`, `chains`, `workflows`, `replays`, `exports`: each with the same methods, arguments
    and results.
    """

    surfaces: tuple[Surface, ...] = SURFACES

    def __getattr__(self, name: str) -> Any:
        for surface in self.surfaces:
            if surface.name == name:
                return self._service(surface)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    @abc.abstractmethod
    def _service(self, surface: Surface) -> Any:
        """Return the service of a surface."""

    @abc.abstractmethod
    async def close(self) -> None: ...

    @abc.abstractmethod
    async def __aenter__(self) -> Installation: ...

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
