"""The engine's side of the supervisor: starts sessions of processes, and the supervisor itself."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hanbeon.cleanup import cleanup
from hanbeon.descriptors import restore_descriptor_limit
from hanbeon.executors.channel import FrameChannel
from hanbeon.executors.sessions import End, Session
from hanbeon.executors.supervisor.processes import MARKER, read_process
from hanbeon.executors.supervisor.wire import SMALL, check_length, packed, unpacked
from hanbeon.logs import get_logger

_log = get_logger("hanbeon.executors")
ROOT = str(Path(__file__).parents[2])
"""The folder of this package, for programs that are started without the user's path."""
_END_SECONDS = 10.0
_START_SECONDS = 30.0
_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from hanbeon.executors.supervisor.main import main; main()"


def _nothing() -> None:
    pass


class SupervisorClient:
    """Starts sessions. Its process starts with the first one, and again if it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: FrameChannel | None = None
        self._sessions: dict[str, Session] = {}

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        descriptors: Mapping[int, int] | None = None,
        cwd: str | None = None,
        limits: Mapping[str, int] | None = None,
        gone: Callable[[End], None],
        started: Callable[[], None] = _nothing,
    ) -> Session:
        """Start a program as the leader of a session. `gone` is called once, when no process of it is left.

        `started` is called when it runs.

        `descriptors`: from the number in the new process to the descriptor here, which is closed. `limits`: by name
        as in `resource.RLIMIT_…`. Raises `TooLong`, having closed none of the descriptors, for more than can be passed.
        """
        channel = self._channel if self._channel is not None else self._start_process()
        session_id = secrets.token_hex(16)
        given = descriptors or {}
        spec = packed(
            id=session_id,
            argv=list(argv),
            env={**env, MARKER: session_id},
            cwd=cwd,
            targets=list(given),
            limits=dict(limits or {}),
        )
        # Before anything is sent: the supervisor could not tell where the next message begins, and would end them all.
        check_length(spec, SMALL)
        session = Session(session_id, started, gone, self._ended, self._check_frozen)
        self._sessions[session.id] = session
        channel.send(spec, [session.give_away(), *given.values()])
        loop = asyncio.get_running_loop()
        session.watchdog = loop.call_later(_START_SECONDS, self._check_started, session, self._process)
        return session

    def _check_started(self, session: Session, process: subprocess.Popen[bytes] | None) -> None:
        """Kill a supervisor that does nothing, frozen perhaps: it would block every job. The next start replaces it."""
        if process is not None and process is self._process and session.leader is None and session.id in self._sessions:
            _log.error("supervisor_stuck", pid=self.pid)
            process.kill()

    def _check_frozen(self) -> None:
        """Kill a supervisor that is stopped by a signal: without it, no end of a session is confirmed."""
        process = self._process
        known = None if process is None else read_process(process.pid)
        if process is not None and known is not None and known.is_stopped:
            _log.error("supervisor_stuck", pid=self.pid)
            process.kill()

    @cleanup
    async def close(self) -> None:
        """Kill what is left. Returns when all of it is dead, and the supervisor too."""
        for session in list(self._sessions.values()):
            session.kill()
        try:
            async with asyncio.timeout(_END_SECONDS):
                while self._sessions:  # noqa: ASYNC110 - a last wait, of milliseconds
                    await asyncio.sleep(0.005)
                if self._channel is not None:
                    self._channel.close()
                while self._process is not None and self._process.poll() is None:  # noqa: ASYNC110 - the same
                    await asyncio.sleep(0.005)
        except TimeoutError:
            # Not even SIGKILL ends what waits inside the kernel. The supervisor continues without us.
            _log.error("processes_left", sessions=len(self._sessions), supervisor=self.pid)
            for session in list(self._sessions.values()):
                session.abandon()
        if self._channel is not None:
            self._channel.close()
        self._process = self._channel = None

    def _start_process(self) -> FrameChannel:
        ours, theirs = socket.socketpair()
        with theirs:
            # Not the user's environment of Python: it starts in tens of milliseconds, and with nothing of ours loaded.
            arguments = [ROOT, str(theirs.fileno()), str(os.getpid())]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, *arguments],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            # Before it starts anything: what it starts inherits its limits.
            restore_descriptor_limit(self._process.pid)
        self._channel = FrameChannel(ours, limit=SMALL, received=self._received, closed=lambda _: self._lost())
        return self._channel

    def _received(self, frame: bytes) -> None:
        session = self._sessions.get(unpacked(frame)["gone"])
        if session is not None:
            session.confirm()

    def _lost(self) -> None:
        _log.error("supervisor_lost", pid=self.pid)
        self._channel = None
        if self._process is not None:
            self._process.wait()
        for session in list(self._sessions.values()):
            session.supervisor_lost()

    def _ended(self, session: Session) -> None:
        self._sessions.pop(session.id, None)
