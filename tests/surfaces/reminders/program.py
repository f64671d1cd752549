"""`hanbeon` with reminders among the surfaces: the one line that a surface needs outside of its folder."""

from __future__ import annotations

import sys

from hanbeon.surfaces import registry
from tests.surfaces.reminders.surface import SURFACE

registry.SURFACES = (*registry.SURFACES, SURFACE)

from hanbeon.cli.program import run_program  # noqa: E402 - with the registry as it is now

sys.exit(run_program())
