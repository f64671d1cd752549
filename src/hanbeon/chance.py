"""Randomness of the engine: the jitter of pauses and retries. Nothing secret is drawn from it."""

from __future__ import annotations

import os
import random

chance = random.Random()
"""One for the process, beside `random`'s own, so that bodies and a simulation's seed do not meet."""
# Or children would pause for as long as each other.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=chance.seed)
