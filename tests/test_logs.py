"""Logs never decide what becomes of a job."""

import logging
from typing import Any

import pytest
import structlog

from hanbeon import State
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


async def test_tracebacks_of_tasks_are_kept(kit: TestKit, caplog: pytest.LogCaptureFixture) -> None:
    @kit.app.task(retries=0)
    async def fail() -> None:
        raise ValueError("100% odd")

    caplog.set_level(logging.WARNING, "hanbeon")
    await kit.app.enqueue(fail)
    await kit.run_all()
    assert "task_raised" in caplog.text
    assert "ValueError: 100% odd" in caplog.text
