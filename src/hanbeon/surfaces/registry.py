"""All surfaces. Server, worker, verify, config, docs and tests iterate over this and nothing else."""

from __future__ import annotations

from hanbeon.surfaces.chains.surface import SURFACE as CHAINS
from hanbeon.surfaces.engine.surface import SURFACE as ENGINE
from hanbeon.surfaces.exports.replays.surface import SURFACE as REPLAYS
from hanbeon.surfaces.exports.surface import SURFACE as EXPORTS
from hanbeon.surfaces.offices.surface import SURFACE as OFFICES
from hanbeon.surfaces.schedules.surface import SURFACE as SCHEDULES
from hanbeon.surfaces.surface import Surface
from hanbeon.surfaces.workflows.surface import SURFACE as WORKFLOWS

SURFACES: tuple[Surface, ...] = (ENGINE, OFFICES, SCHEDULES, CHAINS, WORKFLOWS, REPLAYS, EXPORTS)
