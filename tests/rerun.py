"""`--rerun-timing`: rerun failures of timing-sensitive tests once, while every core is busy.

A machine that others use as well can stand still for longer than the deadline that a test is about. Only tests marked
`timing_sensitive` are rerun, which `timing_sensitive.txt` lists, and at most two of them. The load is there so that a
race can show a second time. What fails again fails the run; what passes is named at the end. An assertion inside
`with guarantee():` is never excused.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.guarantees import breaks_a_guarantee

MOST = 2
"""More failures than this are no accident."""
_TIMING_SENSITIVE = "timing_sensitive"
_GUARANTEE = "guarantee"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rerun-timing",
        action="store_true",
        help=f"rerun up to {MOST} failed tests that are marked timing_sensitive once, under load",
    )
    parser.addoption(
        "--rerun-load",
        type=int,
        default=os.cpu_count() or 1,
        help="busy processes while tests are rerun; one per core by default",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--rerun-timing") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Rerun(config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]  # a generator of pluggy's
    report: pytest.TestReport = yield
    if call.excinfo is not None and breaks_a_guarantee(call.excinfo.value):
        report.keywords = {**report.keywords, _GUARANTEE: 1}
    return report


class Rerun:
    """Collects the failures of a run, and reruns them when all other tests have ended."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failed: dict[str, pytest.TestReport] = {}
        self._summary = ""

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
            self._summary = f"Not rerun: {refusal}."
        elif _run(self._config, list(self._failed)) == pytest.ExitCode.OK:
            self._summary = "Failed, and passed when rerun under load, so the run passes: " + ", ".join(self._failed)
            session.exitstatus = pytest.ExitCode.OK
        else:
            self._summary = "Rerun under load, and failed again."

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._summary:
            terminalreporter.section("rerun")
            terminalreporter.line(self._summary)


def _why_not(failed: list[pytest.TestReport]) -> str:
    """The reason why these failures are not rerun; empty if they are."""
    if not failed:
        return "something failed that is no test"
    if len(failed) > MOST:
        return f"{len(failed)} tests failed"
    for report in failed:
        if _GUARANTEE in report.keywords:
            return f"a guarantee was broken in {report.nodeid}"
        if _TIMING_SENSITIVE not in report.keywords:
            return f"{report.nodeid} is not marked {_TIMING_SENSITIVE}"
    return ""


def _run(config: pytest.Config, tests: list[str]) -> int:
    """In a new process, one after the other, with the servers that were chosen."""
    command = [sys.executable, "-m", "pytest", "-n", "0", f"--postgres={config.getoption('--postgres')}", *tests]
    sys.stdout.flush()
    with _load(config.getoption("--rerun-load")):
        return subprocess.call(command, cwd=config.rootpath)


@contextmanager
def _load(processes: int) -> Iterator[None]:
    """So many processes that do nothing but compute, and end with this one whatever happens to it."""
    parent = os.getpid()
    program = f"import os\nwhile os.getppid() == {parent}:\n    sum(range(100_000))"
    busy = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()
