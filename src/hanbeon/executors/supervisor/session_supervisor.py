"""Supervises one session: stops it on request or when its lease lapses, and ends when all of it is dead."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
from collections.abc import Sequence
from typing import Any

from hanbeon.executors.supervisor import kernel
from hanbeon.executors.supervisor.kernel import adopt_orphans, clear, now, wake_on_children
from hanbeon.executors.supervisor.processes import descendants, has_living_children, read_process, send
from hanbeon.executors.supervisor.wire import SMALL, Frames, TooLong, packed, unpacked

_AGAIN_SECONDS = 0.02
# poll() does not count the time a machine sleeps, so a wait for an instant checks the clock now and then.
_CLOCK_CHECK_SECONDS = 1.0


class SessionSupervisor:
    """`engine` is the socket to the engine, `lifeline` a pipe that closes with the supervisor."""

    def __init__(self, spec: dict[str, Any], engine: socket.socket, lifeline: int) -> None:
        self._spec, self._engine, self._lifeline = spec, engine, lifeline
        self._frames = Frames(SMALL)
        self._leader = 0
        self._status: int | None = None
        self._until: float | None = None
        self._grace = 0.0
        self._kill_at: float | None = None
        self._by: str | None = None

    def run(self, descriptors: Sequence[int]) -> None:
        """Run until nothing of the session is left."""
        os.setsid()
        adopt_orphans()
        woken = wake_on_children()
        try:
            self._leader = kernel.start(self._spec, descriptors)
        except OSError as error:
            return self._send(gone=True, status=None, by=None, error=str(error), errno=error.errno)
        for descriptor in descriptors:
            os.close(descriptor)  # Held here they would never show their end.
        own = read_process(os.getpid())
        self._send(started=self._leader, supervisor=own)
        poll = select.poll()
        for descriptor in (woken, self._lifeline, self._engine.fileno()):
            poll.register(descriptor, select.POLLIN)
        while self._reap():
            for descriptor, _ in poll.poll(self._poll_timeout_ms()):
                if descriptor == woken:
                    clear(woken)
                elif descriptor == self._lifeline or not self._listen():
                    poll.unregister(descriptor)
                    self._kill("orphaned")
            self._keep_time()
        return self._send(gone=True, status=self._status, by=self._by, error=None)

    def _reap(self) -> bool:
        """Return True while anything is left. The kernel knows: no child, so no descendant either."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._leader:
                self._status = status
                if self._kill_at is None:
                    self._kill_at = now()  # Nothing waits for what it left behind.

    def _listen(self) -> bool:
        try:
            data = self._engine.recv(65_536)
            for frame in self._frames.feed(data):
                self._handle(unpacked(frame))
        except (OSError, TooLong):
            return False
        return bool(data)

    def _handle(self, request: dict[str, Any]) -> None:
        match str(request["do"]):
            case "stop":
                self._terminate(request["grace"], "stop")
            case "kill":
                self._kill("kill")
            case "until":
                self._until, self._grace = request["at"], request["grace"]
            case _:
                # In this order: a process that loses its parent between the two checks is our child by the second.
                strays = has_living_children(self._leader) or has_living_children(os.getpid(), besides=self._leader)
                self._send(alone=not strays, number=request["number"])

    def _terminate(self, grace: float, by: str) -> None:
        if self._kill_at is not None:
            return
        self._by, self._kill_at = by, now() + grace
        for number in (signal.SIGTERM, signal.SIGCONT):  # A stopped process does not handle SIGTERM before SIGCONT.
            with contextlib.suppress(OSError):
                os.killpg(self._leader, number)
            for process in descendants(os.getpid()):
                if process.group != self._leader:
                    send(process, number)

    def _kill(self, by: str) -> None:
        self._by, self._kill_at = self._by or by, now()

    def _keep_time(self) -> None:
        if self._until is not None and now() >= self._until:
            # The engine should have stopped it or extended its time by now: it is stuck or frozen.
            self._until = None
            self._terminate(self._grace, "until")
        if self._kill_at is not None and now() >= self._kill_at:
            if self._status is None:
                # Until it is waited for, its pid (and its group's) is not reused.
                with contextlib.suppress(OSError):
                    os.killpg(self._leader, signal.SIGKILL)
            for process in descendants(os.getpid()):
                send(process, signal.SIGKILL)

    def _poll_timeout_ms(self) -> int | None:
        """Milliseconds until the next deadline, None if there is none."""
        if self._kill_at is not None:
            return round(1000 * min(_CLOCK_CHECK_SECONDS, max(_AGAIN_SECONDS, self._kill_at - now())))
        if self._until is not None:
            return round(1000 * min(_CLOCK_CHECK_SECONDS, max(0.0, self._until - now())) + 1)
        return None

    def _send(self, **message: Any) -> None:
        with contextlib.suppress(OSError):  # The engine may be gone; the rest is done all the same.
            self._engine.sendall(packed(**message))
