"""How big the runs are: bounded by default, long where HANBEON_CHAOS=long asks for it."""

from __future__ import annotations

import os

FACTOR = 10 if os.environ.get("HANBEON_CHAOS") == "long" else 1
TIMEOUT = 300 * FACTOR


def sized(count: int) -> int:
    return count * FACTOR
