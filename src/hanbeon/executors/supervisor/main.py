"""The supervisor's program: starts session supervisors, and ends all of them when the engine's process is gone."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import traceback
from collections import deque
from collections.abc import Iterable
from typing import Any

from hanbeon.executors.supervisor.kernel import adopt_orphans, clear, wake_on_children
from hanbeon.executors.supervisor.processes import descendants, send
from hanbeon.executors.supervisor.session_supervisor import SessionSupervisor
from hanbeon.executors.supervisor.wire import SMALL, Frames, TooLong, packed, unpacked

_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTSTP)
_MOST_DESCRIPTORS = 16
_AGAIN_MS = 20


class Supervisor:
    def __init__(self, engine: socket.socket, parent: int) -> None:
        self._engine, self._parent = engine, parent
        self._frames = Frames(SMALL)
        self._descriptors: deque[int] = deque()
        self._children: dict[int, str] = {}
        self._orphaned: list[str] = []
        # Session supervisors hold the end that is read; the other closes with this process, however it ends.
        self._lifeline, self._lifeline_end = os.pipe2(os.O_CLOEXEC)

    def run(self) -> None:
        """Run until the engine's process is gone or has closed the socket, and then until nothing is left."""
        adopt_orphans()
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        woken = wake_on_children()
        # Not the socket alone: whatever the engine's process forks holds a copy of that.
        parent = os.pidfd_open(self._parent)
        if os.getppid() != self._parent:
            return
        poll = select.poll()
        for descriptor in (woken, parent, self._engine.fileno()):
            poll.register(descriptor, select.POLLIN)
        serving = True
        while serving:
            for descriptor, _ in poll.poll(_AGAIN_MS if self._orphaned else None):
                if descriptor == woken:
                    clear(woken)
                elif descriptor == parent or not self._listen():
                    serving = False
            self._reap()
        self._end()

    def _listen(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._engine, 65_536, _MOST_DESCRIPTORS)
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)  # They come without: Python's function knows no flag for it.
            self._descriptors.extend(descriptors)
            for frame in self._frames.feed(data):
                self._start(unpacked(frame))
        except (OSError, TooLong):
            return False
        return bool(data)

    def _start(self, spec: dict[str, Any]) -> None:
        # They come in the order of the messages, and never after the message they belong to.
        own, *others = (self._descriptors.popleft() for _ in range(1 + len(spec["targets"])))
        try:
            pid = os.fork()
        except OSError as error:
            with socket.socket(fileno=own) as engine:
                engine.sendall(packed(gone=True, status=None, by=None, error=str(error)))
            return _close(others)
        if pid == 0:
            code = 1
            try:
                _close_all_but({own, self._lifeline, *others})
                SessionSupervisor(spec, socket.socket(fileno=own), self._lifeline).run(others)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        self._children[pid] = spec["id"]
        return _close([own, *others])

    def _reap(self) -> bool:
        """Return True while there are children left, those that a killed session supervisor left to us included."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._report_gone()
                return False
            if pid == 0:
                break
            session = self._children.pop(pid, None)
            if session is not None and status != 0:
                self._orphaned.append(session)
        if self._orphaned and not self._kill_strays():
            self._report_gone()
        return True

    def _kill_strays(self) -> bool:
        """Return True while any is left. Only the death of a session supervisor gives us other children."""
        strays = [each for each in descendants(os.getpid()) if each.parent == os.getpid()]
        strays = [each for each in strays if each.pid not in self._children]
        for stray in strays:
            for process in (stray, *descendants(stray.pid)):
                send(process, signal.SIGKILL)
        return bool(strays)

    def _report_gone(self) -> None:
        for session in self._orphaned:
            with contextlib.suppress(OSError):
                self._engine.send(packed(gone=session), socket.MSG_DONTWAIT)
        self._orphaned.clear()

    def _end(self) -> None:
        os.close(self._lifeline_end)
        poll = select.poll()
        while self._reap():
            self._kill_strays()
            poll.poll(_AGAIN_MS)


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _close_all_but(kept: set[int]) -> None:
    signal.set_wakeup_fd(-1)
    _close({int(name) for name in os.listdir("/proc/self/fd")} - kept - {0, 1, 2})


def main() -> None:
    descriptor, parent = map(int, sys.argv[1:])
    os.set_inheritable(descriptor, False)
    Supervisor(socket.socket(fileno=descriptor), parent).run()
