"""Size of the runs: bounded by default, long under HANBEON_CHAOS=long."""

from __future__ import annotations

import os

FACTOR = 10 if os.environ.get("HANBEON_CHAOS") == "long" else 1
TIMEOUT = 300 * FACTOR


def sized(count: int) -> int:
    return count * FACTOR
