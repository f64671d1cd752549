"""The process tree, read from /proc, and signals that cannot hit another process with a reused pid."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator
from typing import NamedTuple

MARKER = "HANBEON_SESSION"
"""The variable that every process of a session inherits, unless it cleans its environment."""


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    started: int
    """In clock ticks since boot: together with the pid, it identifies a process for good."""
    is_zombie: bool
    is_stopped: bool


def read_process(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name stands in parentheses and may hold anything, parentheses included.
    words = text[text.rindex(b")") + 2 :].split()
    parent, group, session, started = (int(words[place]) for place in (1, 2, 3, 19))
    return Process(pid, parent, group, session, started, words[0] in (b"Z", b"X"), words[0] in (b"T", b"t"))


def all_processes() -> Iterator[Process]:
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := read_process(int(name))) is not None:
            yield process


def descendants(root: int, table: Iterable[Process] | None = None) -> list[Process]:
    """Return all descendants of `root` except zombies."""
    below: dict[int, list[Process]] = {}
    for process in all_processes() if table is None else table:
        below.setdefault(process.parent, []).append(process)
    found, todo = [], [root]
    while todo:
        for process in below.pop(todo.pop(), ()):
            todo.append(process.pid)
            if not process.is_zombie:
                found.append(process)
    return found


def has_living_children(pid: int, besides: int | None = None) -> bool:
    """Return True if it has a child that is no zombie. Quicker than all of /proc; threads have children too."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        for thread in threads:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                for word in file.read().split():
                    child = read_process(int(word))
                    if child is not None and not child.is_zombie and child.pid != besides:
                        return True
        return False
    except OSError:  # It is gone, a thread of it has ended just now, or this kernel has no such file.
        return any(process.parent == pid and process.pid != besides for process in descendants(pid))


def marked(marker: str, session: int | None) -> list[Process]:
    """Return all processes that carry the marker or belong to the session, and their descendants."""
    table = list(all_processes())
    found: dict[int, Process] = {}
    for process in table:
        if process.pid != os.getpid() and not process.is_zombie and _belongs(process, marker, session):
            found[process.pid] = process
            found |= {each.pid: each for each in descendants(process.pid, table)}
    return list(found.values())


def _belongs(process: Process, marker: str, session: int | None) -> bool:
    if session is not None and process.session == session:
        return True
    try:
        with open(f"/proc/{process.pid}/environ", "rb") as file:
            return f"{MARKER}={marker}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def send(process: Process, number: signal.Signals) -> None:
    """Send a signal if the pid still belongs to the same process."""
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(process.pid)
        try:
            known = read_process(process.pid)
            if known is not None and known.started == process.started:
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)
