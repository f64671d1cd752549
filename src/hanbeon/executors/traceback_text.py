"""Tracebacks of bodies as text, without the frames of Hanbeon that surround every body, and bounded."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from hanbeon.domain.job import NAME_LIMIT
from hanbeon.domain.outcome import ExceptionText

TRACEBACK_BYTES = 16_384
"""The most that is kept of a traceback, with its causes: the beginning and, three times as much, the end."""
_HEAD_BYTES = TRACEBACK_BYTES // 4
_EXECUTORS = str(Path(__file__).parent) + os.sep
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
_ASYNCIO = str(Path(asyncio.__file__).parent) + os.sep


def exception_text(error: BaseException) -> ExceptionText:
    """Return the class and the traceback of an exception, whatever its methods and attributes do."""
    return ExceptionText(_class_name(error), _traceback(error))


def stack_text(frame: FrameType) -> str:
    """Return the stack of a body that runs on the event loop, without the frames that surround every body."""
    frames = traceback.StackSummary.extract(traceback.walk_stack(frame))
    frames.reverse()
    for around in (_EXECUTORS, _ASYNCIO):
        last = max((place for place, each in enumerate(frames) if each.filename.startswith(around)), default=-1)
        if last >= 0 and frames[last + 1 :]:
            frames = traceback.StackSummary.from_list(frames[last + 1 :])
            break
    return bounded("Stack (most recent call last):\n" + "".join(frames.format()).rstrip("\n"))


def _class_name(error: BaseException) -> str:
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return _encodable(name[:NAME_LIMIT])


def _traceback(error: BaseException) -> str:
    try:
        found = traceback.TracebackException.from_exception(error, compact=True)
        for each in _linked(found):
            _cut_own_frames(each.stack)
        return bounded("".join(found.format()).rstrip("\n"))
    except BaseException as failure:
        return f"its traceback cannot be shown: {type(failure).__name__}"


def _linked(found: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    """Yield an exception, its causes and contexts, and the members of groups."""
    waiting, seen = [found], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [next for next in (each.__cause__, each.__context__) if next is not None]
            waiting += each.exceptions or []


def _cut_own_frames(stack: traceback.StackSummary) -> None:
    """Remove the frames before the first one that is not Hanbeon's. An error of Hanbeon's own code keeps all."""
    foreign = next((place for place, frame in enumerate(stack) if not frame.filename.startswith(_PACKAGE)), 0)
    del stack[:foreign]


def bounded(text: str) -> str:
    """Return the text with its middle left out if it is too long."""
    data = text.replace("\x00", "\ufffd").encode(errors="replace")  # As it is stored: that takes more bytes.
    if len(data) <= TRACEBACK_BYTES:
        return data.decode()
    note = f"\n… {len(data) - TRACEBACK_BYTES:,} bytes are left out …\n"
    tail = TRACEBACK_BYTES - _HEAD_BYTES - len(note.encode())
    return data[:_HEAD_BYTES].decode(errors="ignore") + note + data[-tail:].decode(errors="ignore")


def _encodable(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded."""
    return text.encode(errors="replace").decode()
