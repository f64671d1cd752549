"""Tests that run on SQLite in `make test`, and on further stores in `make test-slow`.

Those of `MODULES` start Python once or several times, which is nearly all that they cost, and what they show (options,
signals, output, exit codes) has nothing to do with the store. What commands do to a store is tested on each without
processes. Those of `TESTS` cost much, and others of their module show their kind on each store.
"""

from __future__ import annotations

import pytest

MODULES = {
    "app/test_processes.py",
    "storm/kills/test_deadlines.py",
    "storm/kills/test_shutdown.py",
    "cli/test_completion.py",
    "cli/test_declared_schedules.py",
    "cli/test_enqueue.py",
    "cli/test_file.py",
    "cli/test_job_log.py",
    "cli/test_queues.py",
    "cli/test_schedule.py",
    "cli/test_server_source.py",
    "cli/test_terminal.py",
    "cli/test_tick.py",
    "surfaces/offices/delivery/test_notifications.py",
}
TESTS = {
    "server/test_fanout.py::test_a_stream_that_nobody_reads_is_dropped",
    "server/test_fanout.py::test_one_who_does_not_read_does_not_hold_up_a_stop",
    "service/test_verify.py::test_verify_finds_a_broken_history",
    "service/test_verify_schedules.py::test_verify_finds_a_broken_history",
}
_URLS = ("database_url", "app_url", "kit_url")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the variants before `-m` reads the marks."""
    for item in items:
        # Of its text: to take a path apart for each of thousands of tests would be a tenth of their collection.
        module, _, test = item.nodeid.removeprefix("tests/").partition("::")
        if module not in MODULES and f"{module}::{test.partition('[')[0]}" not in TESTS:
            continue
        callspec = getattr(item, "callspec", None)
        if callspec is not None and any(callspec.params.get(url, "sqlite") != "sqlite" for url in _URLS):
            item.add_marker("slow")
