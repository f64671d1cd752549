"""The log of commands on stderr: one JSON object a line, whatever is in it, and few writes for many lines."""

import contextlib
import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import structlog

from hanbeon.cli.logs import log_to_stderr
from hanbeon.logs import get_logger


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


@contextlib.contextmanager
def _logging() -> Iterator[_Stderr]:
    """Log as a command does. Not by a fixture: pytest captures the streams anew when a test begins."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    with contextlib.redirect_stderr(_Stderr()) as found:
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
