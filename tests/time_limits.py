"""Time limits of tests: for a hang, and never for slowness."""

import pytest

SLOW_SECONDS = 1_800


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests that set no limit a longer one: ten minutes are not much for a sweep on a busy machine."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
