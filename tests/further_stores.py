"""Tests that start processes run on SQLite in `make test`, and on further stores in `make test-slow`.

Each starts Python once or several times, which is nearly all that it costs, and what it shows (options, signals,
output, exit codes) has nothing to do with the store. What commands do to a store is tested on each without processes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

MODULES = {
    "app/test_processes.py",
    "chaos/test_deadlines.py",
    "chaos/test_shutdown.py",
    "cli/test_completing.py",
    "cli/test_declared.py",
    "cli/test_enqueue.py",
    "cli/test_file.py",
    "cli/test_job_log.py",
    "cli/test_queues.py",
    "cli/test_schedule.py",
    "cli/test_terminal.py",
    "cli/test_tick.py",
    "surfaces/offices/delivery/test_notifications.py",
}
_URLS = ("database_url", "app_url", "kit_url")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the variants before `-m` reads the marks."""
    tests = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(tests) or item.path.relative_to(tests).as_posix() not in MODULES:
            continue
        callspec = getattr(item, "callspec", None)
        if callspec is not None and any(callspec.params.get(url, "sqlite") != "sqlite" for url in _URLS):
            item.add_marker("slow")
