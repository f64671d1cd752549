"""Standard streams that may be closed, full or unread: a command ends with one line and an exit code, a worker goes on.

It runs before anything opens a descriptor, so it imports nothing of Hanbeon.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any, ClassVar, TextIO

UNREAD, UNWRITABLE = 141, 74
"""Exit codes; `exits.py` has their meanings."""


def secure_streams() -> None:
    """Open /dev/null in place of closed standard streams, and ignore errors of stderr.

    Otherwise the next file or socket would become descriptor 0, 1 or 2: messages would be written into a database, and
    the event loop aborts when it closes. Log lines and messages that nobody can receive must not end a worker.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for the rest of the process
    sys.stdout = _text(_Recording(1, "w", closefd=False), sys.stdout, line_buffering=os.isatty(1))
    sys.stderr = _text(_Lenient(2, "w", closefd=False), sys.stderr, line_buffering=True)


def unwritten() -> int | None:
    """The exit code if output of this process could not be written; None if all of it was.

    The rest is discarded, or Python would complain at exit. A reader that left knows it; any other reason is printed.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        _Recording.errors.append(error)
    if not _Recording.errors:
        return None
    first = _Recording.errors[0]
    _discard()
    if isinstance(first, BrokenPipeError):
        return UNREAD
    print(f"error: the output could not be written: {first.strerror}", file=sys.stderr)
    return UNWRITABLE


def _discard() -> None:
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    _Recording.errors.clear()


def _text(raw: io.FileIO, like: TextIO | None, *, line_buffering: bool) -> TextIO:
    """A text stream with the encoding of another one."""
    encoding, errors = (None, None) if like is None else (like.encoding, like.errors)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=line_buffering)


class _Recording(io.FileIO):
    """A file that remembers an error: a text longer than its buffer is dropped with it, and the next flush succeeds."""

    errors: ClassVar[list[OSError]] = []

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.errors.append(error)
            raise


class _Lenient(io.FileIO):
    """A file that takes what it cannot write."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))
