"""The definition of a schedule."""

from __future__ import annotations

import msgspec

from hanbeon.domain.timing.fire_times import Timing
from hanbeon.surfaces.schedules.misfire import Misfire, Overlap

CATCH_UP_MOST = 100
"""Default for the number of missed fires that are caught up on."""


class Definition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The definition of a schedule: times, arguments, and the handling of overlaps and missed fires."""

    timing: Timing
    args: str = "{}"
    overlap: Overlap = Overlap.SKIP
    misfire: Misfire = Misfire.COALESCE
    misfire_limit: int = CATCH_UP_MOST


RULES = tuple(name for name in Definition.__struct_fields__ if name not in ("timing", "args"))
"""The fields that requests, declarations and the database have under the same names, with the same values."""
