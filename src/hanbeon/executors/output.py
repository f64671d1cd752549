"""Copies of what Python bodies print and log, for the logs of their jobs.

While a worker runs, `sys.stdout` and `sys.stderr` are streams that pass on all output, and records of
`logging` are made as before. Both are copied to the body in whose context this happens, if any: code outside of
bodies is not affected, and bodies that run at the same time do not mix.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from hanbeon.domain.log import LogStream
from hanbeon.guarded_task import current_body

_OWN = "hanbeon"
_NAMES = ("stdout", "stderr")


class Sink(Protocol):
    """The body that prints."""

    def printed(self, stream: str, data: bytes) -> None: ...


FindSink = Callable[[], Sink | None]


class OutputCapture:
    """Installed by the workers of a process, and removed with the last of them."""

    def __init__(self, sink: FindSink = current_body.get) -> None:
        """`sink`: returns the body in whose context it is called."""
        self._sink = sink
        self._lock = threading.Lock()
        self._users = 0
        self._streams: dict[str, CopiedStream] = {}
        self._factory: CopiedRecords | None = None

    def install(self) -> None:
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
            for name in _NAMES:
                if (original := getattr(sys, name)) is not None:
                    self._streams[name] = CopiedStream(original, name, self._sink)
                    setattr(sys, name, self._streams[name])
            self._factory = CopiedRecords(logging.getLogRecordFactory(), self._sink)
            logging.setLogRecordFactory(self._factory)

    def remove(self) -> None:
        """Put back what was there before, unless somebody else has replaced it since."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            for name, stream in self._streams.items():
                if getattr(sys, name) is stream:
                    setattr(sys, name, stream.original)
            self._streams.clear()
            factory, self._factory = self._factory, None
            if factory is not None and logging.getLogRecordFactory() is factory:
                logging.setLogRecordFactory(factory.original)


capture = OutputCapture()
"""That of this process."""


class CopiedStream:
    """A text stream that copies to a body what is written in its context. All else is the original's."""

    def __init__(self, original: Any, name: str, sink: FindSink) -> None:
        self.original, self._name, self._sink = original, name, sink

    def write(self, text: str) -> int:
        written: int = self.original.write(text)
        body = self._sink()
        # A handler of logging prints a record that has been copied already; Hanbeon's log is not the body's.
        if body is not None and not _is_log(sys._getframe(1).f_globals.get("__name__")):
            body.printed(self._name, text.encode(errors="replace"))
        return written

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


class CopiedRecords:
    """A factory of log records that copies those of bodies."""

    def __init__(self, original: Callable[..., logging.LogRecord], sink: FindSink) -> None:
        self.original, self._sink = original, sink

    def __call__(self, *args: Any, **options: Any) -> logging.LogRecord:
        record = self.original(*args, **options)
        if (body := self._sink()) is not None and not _is_log(record.name):
            with contextlib.suppress(Exception):  # As for a handler: an odd record must not fail the caller.
                body.printed(LogStream.TASK, _line(record).encode(errors="replace"))
        return record


def _line(record: logging.LogRecord) -> str:
    text = f"{record.levelname} {record.name}: {record.getMessage()}\n"
    if record.exc_info and record.exc_info[1] is not None:
        text += "".join(traceback.format_exception(record.exc_info[1]))
    return text


def _is_log(module: Any) -> bool:
    return module == logging.__name__ or module == _OWN or str(module).startswith(f"{_OWN}.")
