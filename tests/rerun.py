"""Asks once more, and alone, what failed in company: only tests that hold real processes to the clock.

A machine that others use, too, can stand still for longer than any patience of a test. With `--again` a few failed
tests of the folders below are run a second time when all others have ended. What fails again fails the run; what passes
is told at the end and stays in sight. A broken guarantee (`tests.guarantees`) is never excused.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.guarantees import breaks_a_guarantee

FOLDERS = {
    *("app", "bench", "chaos", "cli", "client", "engine", "events", "examples", "executors", "outbound", "pooler"),
    *("processes", "server", "servers", "surfaces", "sync"),
}
"""Where tests are that wait for processes, servers and sockets. Not: rules, statements, races, plans."""
MOST = 5
"""More failures than this are no accident."""
_REAL_TIME = "real_time"
_GUARANTEE = "guarantee"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--again",
        action="store_true",
        help=f"run up to {MOST} failed tests that depend on the machine's time once more, alone",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--again") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Again(config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(tests) and item.path.relative_to(tests).parts[0] in FOLDERS:
            item.add_marker(_REAL_TIME)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]  # a generator of pluggy's
    report: pytest.TestReport = yield
    if call.excinfo is not None and breaks_a_guarantee(call.excinfo.value):
        report.keywords = {**report.keywords, _GUARANTEE: 1}
    return report


class Again:
    """Gathers what failed, and runs it again when the others are done."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failed: dict[str, pytest.TestReport] = {}
        self._told = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.setdefault(report.nodeid, report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """After the workers and their servers have ended, and before the summary is written."""
        if session.exitstatus != pytest.ExitCode.TESTS_FAILED:
            return
        refusal = _why_not(list(self._failed.values()))
        if refusal:
            self._told = f"Not run again: {refusal}."
        elif _run(self._config, list(self._failed)) == pytest.ExitCode.OK:
            self._told = "Failed in company and passed alone, so the run passes: " + ", ".join(self._failed)
            session.exitstatus = pytest.ExitCode.OK
        else:
            self._told = "Run again, alone, and failed again."

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._told:
            terminalreporter.section("again")
            terminalreporter.line(self._told)


def _why_not(failed: list[pytest.TestReport]) -> str:
    """Why these failures stand as they are; nothing if they do not."""
    if not failed:
        return "something failed that is no test"
    if len(failed) > MOST:
        return f"{len(failed)} tests failed"
    for report in failed:
        if _GUARANTEE in report.keywords:
            return f"a guarantee was broken in {report.nodeid}"
        if _REAL_TIME not in report.keywords:
            return f"{report.nodeid} does not depend on the machine's time"
    return ""


def _run(config: pytest.Config, tests: list[str]) -> int:
    """In a new process, one after the other, with the servers that were chosen."""
    command = [sys.executable, "-m", "pytest", "-n", "0", f"--postgres={config.getoption('--postgres')}", *tests]
    sys.stdout.flush()
    return subprocess.call(command, cwd=config.rootpath)
