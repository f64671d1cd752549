"""Tests that run on SQLite in `make test`, and on further stores in `make test-slow`; and those of SQLite alone.

`MODULES` have no SQL of their own: commands, requests, clients and contexts over operations that tests of the store and
of the surfaces run on each store. Those of `TESTS` cost much, and others of their module show their kind on each store.
`ONE_STORE` shows what happens before a store is asked, or beside it: frames, connections, requests that are sent.
"""

from __future__ import annotations

import pytest

MODULES = {
    "app/test_commands.py",
    "app/test_context.py",
    "app/test_explain.py",
    "app/test_http.py",
    "app/test_logs.py",
    "app/test_processes.py",
    "app/test_tasks.py",
    "app/test_timeouts.py",
    "cli/test_completion.py",
    "cli/test_config.py",
    "cli/test_declared_schedules.py",
    "cli/test_enqueue.py",
    "cli/test_file.py",
    "cli/test_job_log.py",
    "cli/test_moves.py",
    "cli/test_queries.py",
    "cli/test_queues.py",
    "cli/test_server_source.py",
    "cli/test_terminal.py",
    "cli/test_tick.py",
    "client/test_offices.py",
    "client/test_retries.py",
    "client/test_schedules.py",
    "executors/test_containment.py",
    "server/test_auth.py",
    "server/test_chains.py",
    "server/test_events.py",
    "server/test_offices.py",
    "server/test_openapi.py",
    "server/test_schedule_bad_input.py",
    "server/test_schedule_metrics.py",
    "server/test_schedules.py",
    "server/test_session.py",
    "server/test_webhooks.py",
    "server/test_websockets.py",
    "server/test_workflows.py",
    "storm/kills/test_deadlines.py",
    "storm/kills/test_shutdown.py",
    "surfaces/offices/delivery/test_giving_up.py",
    "surfaces/offices/delivery/test_notifications.py",
    "surfaces/offices/delivery/test_trying_out.py",
    "surfaces/offices/delivery/test_webhooks.py",
    "surfaces/offices/test_commands.py",
    "surfaces/offices/test_page_bytes.py",
    "surfaces/offices/test_simulation.py",
    "surfaces/offices/test_stories.py",
    "surfaces/schedules/test_commands.py",
    "surfaces/test_surface_deletion.py",
    "surfaces/test_tiny_surface.py",
    "surfaces/workflows/test_steps.py",
    "sync/test_calls.py",
    "sync/test_processes.py",
    "testing/test_kit.py",
}
ONE_STORE = {
    "client/test_address.py",
    "server/test_connections.py",
    "server/test_malformed_frames.py",
    "server/test_scopes.py",
    "surfaces/workflows/test_inserted_values.py",
    "surfaces/workflows/test_secret_use.py",
}
TESTS = {
    "server/test_fanout.py::test_a_stream_that_nobody_reads_is_dropped",
    "server/test_fanout.py::test_one_who_does_not_read_does_not_hold_up_a_stop",
}
_URLS = ("database_url", "empty_database_url", "app_url", "kit_url")


def is_for_one_store(metafunc: pytest.Metafunc) -> bool:
    return metafunc.definition.nodeid.removeprefix("tests/").partition("::")[0] in ONE_STORE


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
