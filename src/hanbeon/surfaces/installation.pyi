"""Generated from the registry of the surfaces by `make docs`."""

import abc
from typing import Any

from hanbeon.surfaces.chains.service import Chains
from hanbeon.surfaces.engine.service import Engine
from hanbeon.surfaces.exports.replays.service import Replays
from hanbeon.surfaces.exports.service import Exports
from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.schedules.service import Schedules
from hanbeon.surfaces.surface import Surface
from hanbeon.surfaces.workflows.service import Workflows

class Installation(abc.ABC):
    engine: Engine
    offices: Offices
    schedules: Schedules
    chains: Chains
    workflows: Workflows
    replays: Replays
    exports: Exports
    surfaces: tuple[Surface, ...]

    def __getattr__(self, name: str) -> Any: ...
    @abc.abstractmethod
    def _service(self, surface: Surface) -> Any: ...
    @abc.abstractmethod
    async def close(self) -> None: ...
    @abc.abstractmethod
    async def __aenter__(self) -> Installation: ...
    async def __aexit__(self, *exc: object) -> None: ...
