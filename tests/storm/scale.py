"""Length of the runs: short with a fixed seed by default, long with several seeds under HANBEON_CHAOS=long."""

import os

LONG = os.environ.get("HANBEON_CHAOS") == "long"
SEEDS = [int(seed) for seed in os.environ.get("HANBEON_CHAOS_SEED", "1,2,3" if LONG else "1").split(",")]
TIMEOUT = 1800 if LONG else 600
SLACK = 1.0 if LONG else 20.0
"""How much later than promised something may be seen: a second where the run is meant for a quiet machine."""


def sized(short: int, long: int) -> int:
    return long if LONG else short
