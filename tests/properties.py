"""How property tests run: without a time limit per example, which a busy machine would break.

Under `CI=true` they try the same examples every time: whether a change may land is decided by the change alone.
Everywhere else they try new ones, and what those find is worth a test of its own.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "hanbeon",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("hanbeon")
