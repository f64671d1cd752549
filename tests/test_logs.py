"""Logs never decide what becomes of a job."""

import logging
import subprocess
import sys
from typing import Any

import pytest
import structlog

from hanbeon import State
from hanbeon.logs import get_logger
from hanbeon.testing import TestKit


async def test_a_log_that_cannot_be_written_does_not_end_the_attempt(
    kit: TestKit, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise UnicodeEncodeError("ascii", "한번", 0, 1, "this stream is not for people")

    @kit.app.task(retries=0)
    async def fail() -> None:
        raise ValueError("한번")

    job = await kit.app.enqueue(fail)
    structlog.configure(processors=[broken])
    try:
        await kit.run_all()
    finally:
        structlog.reset_defaults()
    record = await job.record()
    assert (record.state, record.error_message) == (State.FAILED, "ValueError: 한번")
    assert "a log entry could not be written" in caplog.text


def test_nothing_is_imported_to_log_with() -> None:
    """For structlog imports rich and pygments, which a program that has not configured it would pay for."""
    program = (
        "import sys; from hanbeon import App; import hanbeon.executors.process.child;"
        "print({'structlog', 'rich', 'pygments'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_an_entry_goes_to_python_logging_with_its_fields(caplog: pytest.LogCaptureFixture) -> None:
    log = get_logger("hanbeon.tests")
    log.info("not_configured", n=1)
    caplog.set_level(logging.INFO, "hanbeon.tests")
    log.info("at_100%", n=1, text="%s")
    try:
        raise ValueError("한번")
    except ValueError:
        log.exception("it_failed", n=2)
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        ("INFO", "at_100% n=1 text='%s'"),
        ("ERROR", "it_failed n=2"),
    ]
    assert "ValueError: 한번" in caplog.text


def test_an_entry_goes_to_structlog_where_that_is_configured(caplog: pytest.LogCaptureFixture) -> None:
    log = get_logger("hanbeon.tests")
    with structlog.testing.capture_logs() as entries:
        log.warning("told", n=1)
        log.exception("it_failed")
    assert entries == [
        {"event": "told", "n": 1, "log_level": "warning"},
        {"event": "it_failed", "exc_info": True, "log_level": "error"},
    ]
    assert not caplog.records


async def test_tracebacks_of_tasks_are_kept(kit: TestKit, caplog: pytest.LogCaptureFixture) -> None:
    @kit.app.task(retries=0)
    async def fail() -> None:
        raise ValueError("100% odd")

    caplog.set_level(logging.WARNING, "hanbeon")
    await kit.app.enqueue(fail)
    await kit.run_all()
    assert "task_raised" in caplog.text
    assert "ValueError: 100% odd" in caplog.text


def test_entry_goes_to_the_present_configuration_of_structlog() -> None:
    """Loggers are kept, since making one takes longer than writing a line."""
    log = get_logger("hanbeon.tests")
    seen: list[tuple[str, str]] = []

    def into(name: str) -> Any:
        def processor(logger: Any, method: str, entry: Any) -> Any:
            seen.append((name, entry["event"]))
            raise structlog.DropEvent

        return processor

    try:
        for name in ("first", "second"):
            structlog.configure(processors=[into(name)], cache_logger_on_first_use=True)
            log.info("a")
            log.info("b")
    finally:
        structlog.reset_defaults()
    assert seen == [("first", "a"), ("first", "b"), ("second", "a"), ("second", "b")]
