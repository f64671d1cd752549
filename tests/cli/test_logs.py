"""The log of commands on stderr: one JSON object a line, whatever is in it, and few writes for many lines."""

import contextlib
import io
import json
import logging
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from hanbeon.cli.logs import log_to_stderr
from hanbeon.errors import InvalidInput
from hanbeon.logs import get_logger
from hanbeon.testing import TestKit


class _Stderr(io.StringIO):
    """Remembers each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return super().write(text)

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


class _Terminal(_Stderr):
    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def _logging(stderr: type[_Stderr] = _Stderr) -> Iterator[_Stderr]:
    """Log as a command does. Not by a fixture: pytest captures the streams anew when a test begins."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    with contextlib.redirect_stderr(stderr()) as found:
        log_to_stderr()
        try:
            yield found
        finally:
            root.handlers = handlers
            root.setLevel(level)
            structlog.reset_defaults()


def test_every_value_becomes_one_line_of_json() -> None:
    log = get_logger("hanbeon.tests")
    values = ["한번", "\ud800", "a\nb\u2028c", 10**100, object, {1: 2}, float("nan"), None, b"x"]
    with _logging() as stderr:
        for value in values:
            log.info("event_of_a_test", value=value)
    assert len(stderr.entries) == len(values)
    assert {entry["event"] for entry in stderr.entries} == {"event_of_a_test"}
    assert stderr.entries[0]["value"] == "한번"
    assert stderr.entries[3]["value"] == 10**100


def test_lines_together_take_few_writes_that_cannot_be_mixed() -> None:
    log = get_logger("hanbeon.tests")
    with _logging() as stderr:
        with log.together(), log.together():
            for number in range(100):
                log.info("event_of_a_test", number=number, text="한번" if number % 2 else "once")
        assert [entry["number"] for entry in stderr.entries] == list(range(100))
        assert len(stderr.writes) < 50
        assert all(text.endswith("\n") and len(text.encode()) <= 4_096 for text in stderr.writes)
        log.info("event_of_a_test", number=100)
        assert stderr.entries[-1]["number"] == 100


def test_lines_of_other_threads_do_not_wait() -> None:
    log = get_logger("hanbeon.tests")
    with _logging() as stderr, log.together():
        log.info("gathered")
        other = threading.Thread(target=log.info, args=("of_another_thread",))
        other.start()
        other.join()
        assert [entry["event"] for entry in stderr.entries] == ["of_another_thread"]
    assert [entry["event"] for entry in stderr.entries] == ["of_another_thread", "gathered"]


@pytest.fixture
def seoul(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Seoul")
    monkeypatch.setenv("NO_COLOR", "1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def _run_two_tasks(kit: TestKit) -> None:
    @kit.app.task(retries=3, retry_delay=60)
    async def fetch() -> None:
        raise ConnectionError("the bank\x1b[2J does not answer")

    @kit.app.task
    async def add() -> int:
        return 3

    await kit.app.enqueue_many([fetch.call(), add.call()])
    await kit.tick()


async def test_a_terminal_is_told_what_happened_in_its_own_time(seoul: None, kit: TestKit) -> None:
    with _logging(_Terminal) as stderr:
        await _run_two_tasks(kit)
    lines = stderr.getvalue().splitlines()
    local = r"\d\d:\d\d:\d\d\.\d{3} KST "
    job = r"job=[0-9a-f]{8}…[0-9a-f]{4} attempt=1"
    retried = r"retried +fetch in \d+ms retry 1 of 3 in 60 s ConnectionError: the bank\\x1b\[2J does not answer "
    assert [line for line in lines if re.fullmatch(local + retried + job, line)], lines
    assert [line for line in lines if re.fullmatch(local + r"succeeded +add in \d+ms " + job, line)], lines
    assert "Traceback (most recent call last):" in lines, "of the body, below its warning"


async def test_programs_read_the_same_facts_as_json(kit: TestKit) -> None:
    with _logging() as stderr:
        await _run_two_tasks(kit)
    retried = next(entry for entry in stderr.entries if entry["event"] == "retried")
    assert retried["timestamp"].endswith("Z")
    assert (retried["task"], retried["state"], retried["attempt"]) == ("fetch", "pending", 1)
    assert (retried["retry"], retried["retries"], retried["retry_in"]) == (1, 3, 60.0)
    assert retried["error"] == "ConnectionError: the bank\\x1b[2J does not answer"
    assert len(retried["job"]) == 36


def test_levels_are_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANBEON_LOG", "warning, hanbeon.tests=error,hanbeon.tests.deep=debug")
    with _logging() as stderr:
        for name in ("hanbeon", "hanbeon.tests", "hanbeon.tests.deep", "hanbeon.testsuite"):
            log = get_logger(name)
            for write in (log.debug, log.info, log.warning, log.error):
                write("said")
        logging.getLogger("hanbeon.tests.other").warning("by Python's logging")
    assert [(entry["logger"], entry["level"]) for entry in stderr.entries] == [
        ("hanbeon", "warning"),
        ("hanbeon", "error"),
        ("hanbeon.tests", "error"),
        *(("hanbeon.tests.deep", level) for level in ("debug", "info", "warning", "error")),
        ("hanbeon.testsuite", "warning"),
        ("hanbeon.testsuite", "error"),
    ]


@pytest.mark.parametrize("levels", ["loud", "hanbeon.tests=loud", "warning,=x"])
def test_an_unknown_level_is_refused(levels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANBEON_LOG", levels)
    with pytest.raises(InvalidInput, match=r"HANBEON_LOG: must be one of debug, info, .*, got '"), _logging():
        pass
