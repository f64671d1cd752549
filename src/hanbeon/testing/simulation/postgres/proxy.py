"""Between all simulated processes and the server: releases one request at a time, and sees who waits for a lock."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hanbeon.testing.simulation.plan import Refusal
from hanbeon.testing.simulation.postgres.session import BARRIER, Session
from hanbeon.testing.simulation.postgres.wire import Line, Message, PlainConnection
from hanbeon.testing.simulation.threads import latency
from hanbeon.testing.simulation.world import World, current_node

_ANSWER_SECONDS = 0.003
"""Real seconds in which a statement that waits for nothing usually answers, and a deadlock is found."""
_LONGEST_SECONDS = 60.0
_LOST_SHARE = 0.05


class Proxy:
    def __init__(self, world: World, address: Path, clock: Path, own: PlainConnection) -> None:
        self._world, self._address, self._own = world, address, own
        self._clock = os.open(clock, os.O_CREAT | os.O_WRONLY, 0o644)
        self._sessions: list[Session] = []
        self._working: deque[Session] = deque()
        self._orphans: list[int] = []
        """Sessions without a client that wait for a lock, and notice later that nobody reads their answer."""
        self._has_freed = self._is_settling = False
        self._barriers = 0
        self.set_clock()

    async def connect(self, factory: Any) -> tuple[Session, Any]:
        """Connect the running process to the server."""
        node = current_node.get()
        assert node is not None
        await asyncio.sleep(latency(node))
        if node.refused_until > self._world.now and node.refusal is Refusal.IO:
            raise ConnectionRefusedError("simulated: connection refused")
        protocol = factory()
        session = Session(self, node, protocol, Line(self._address))
        self._sessions.append(session)
        node.connections.append(session)
        protocol.connection_made(session)
        return session, protocol

    def set_clock(self) -> None:
        os.pwrite(self._clock, b"%020d" % self._world.now_us(), 0)

    def release(self, session: Session, data: bytes) -> None:
        self.set_clock()
        session.line.send(data)
        self._working.append(session)
        self._settle()

    def cancelled(self, pid: int) -> None:
        """Let a session go on that was asked to give up its statement."""
        for session in self._sessions:
            if session.pid == pid and session.is_blocked:
                self._resume(session)

    def terminate(self, session: Session) -> None:
        self.set_clock()
        if session.is_blocked:
            _signal(session.pid, signal.SIGCONT)
        self._own.rows(f"SELECT pg_terminate_backend({session.pid}, 10000)")

    def hang_up(self, session: Session) -> None:
        """Close the session's end of the line. The server rolls back at once, unless it waits for a lock."""
        self.set_clock()
        session.line.close()
        session.line.is_over = True
        if session in self._sessions:
            self._sessions.remove(session)
        if session in self._working:
            self._working.remove(session)
        if session.is_blocked:
            _signal(session.pid, signal.SIGCONT)
        if session.pid and not self._has_ended(session.pid):
            self._orphans.append(session.pid)
        self._has_freed = True
        self._settle()

    def _has_ended(self, pid: int) -> bool:
        """Wait for the end of a session without a client; return false if it waits for a lock."""
        ends_at = time.monotonic() + _LONGEST_SECONDS
        while time.monotonic() < ends_at:
            rows = self._own.rows(
                f"SELECT cardinality(pg_blocking_pids(pid)) FROM pg_catalog.pg_stat_activity WHERE pid = {pid}"
            )
            if not rows or rows[0][0]:
                return not rows
        raise RuntimeError(f"the server does not end session {pid}")

    def _settle(self) -> None:
        """Wait until all sessions have answered or wait for locks. Of several that may go on, one does, then the next.

        A process that waits for a lock is stopped: of several that got theirs, the machine would decide who is first.
        """
        if self._is_settling:
            return
        self._is_settling = True
        try:
            while self._working or self._has_freed:
                if self._working:
                    self._has_freed |= self._await(self._working.popleft())
                    continue
                self._has_freed = False
                self._orphans = [pid for pid in self._orphans if not self._has_ended(pid)]
                if waiting := [each for each in self._sessions if each.is_blocked]:
                    blocked = self._blocked(waiting)
                    if free := [each for each in waiting if each.pid not in blocked]:
                        self._resume(self._world.choices.choice(free))
                        self._has_freed = True
        finally:
            self._is_settling = False

    def _resume(self, session: Session) -> None:
        session.is_blocked = False
        _signal(session.pid, signal.SIGCONT)
        self._working.append(session)

    def _await(self, session: Session) -> bool:
        """Wait for the answer of a session; return false if it waits for a lock of another one."""
        ends_at = time.monotonic() + _LONGEST_SECONDS
        was_blocked = False
        while time.monotonic() < ends_at:
            if session.running is None or session.read(_ANSWER_SECONDS):
                return True
            is_blocked = _sleeps(session.pid) and bool(self._blocked([session]))
            # Twice in a row: in between, a deadlock would have been found.
            if is_blocked and was_blocked:
                session.is_blocked = True
                _signal(session.pid, signal.SIGSTOP)
                return False
            was_blocked = is_blocked
        raise RuntimeError(f"no answer to {session.running}")

    def _blocked(self, sessions: Iterable[Session]) -> set[int]:
        pids = [each.pid for each in sessions if each.pid]
        if not pids:
            return set()
        rows = self._own.rows(
            f"SELECT pid FROM unnest(ARRAY{pids}) AS pid WHERE cardinality(pg_blocking_pids(pid)) > 0"
        )
        return {pid for (pid,) in rows}

    # Notifications

    def pass_notifications(self) -> None:
        """Have all who listen hear what has been notified up to now."""
        listeners = [each for each in self._sessions if each.listens and each.running is None]
        if not listeners:
            return
        self._barriers += 1
        self._own.rows(f"NOTIFY {BARRIER}, '{self._barriers}'")
        until = f"\0{self._barriers}\0".encode()
        for session in listeners:
            heard: list[Message] = []
            while not session.line.is_over and not any(_is_barrier(each) and until in each.body for each in heard):
                heard += session.line.read(1.0)
            session.deliver(heard)

    def passes(self, message: Message) -> bool:
        """Return true if a notification reaches its process."""
        if _is_barrier(message):
            return False
        return self._world.now >= self._world.deaf_until and self._world.draw() >= _LOST_SHARE


def _is_barrier(message: Message) -> bool:
    return message.kind == b"A" and message.body[4:].startswith(BARRIER.encode() + b"\0")


def _sleeps(pid: int) -> bool:
    """Return false for a process of the server that runs, or would if the machine were less busy: ask nobody then."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
    except OSError:
        return False


def _signal(pid: int, number: signal.Signals) -> None:
    os.kill(pid, number)
