"""The engine's side of one session of processes: stopped on request, and known to be dead."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

from hanbeon.executors.channel import FrameChannel
from hanbeon.executors.supervisor.kernel import now
from hanbeon.executors.supervisor.processes import Process, marked, send
from hanbeon.executors.supervisor.wire import SMALL, packed, unpacked

_SWEEP_SECONDS = 0.05


class End(NamedTuple):
    """The end of a session: its leader's status from waitpid, and what ended it if not the leader itself."""

    status: int | None = None
    by: str | None = None
    error: str | None = None
    errno: int | None = None

    def __str__(self) -> str:
        if self.error is not None:
            return f"cannot be started: {self.error}"
        if self.by == "until":
            return "was stopped because this worker was unresponsive for so long that its lease was in danger"
        if self.status is None:
            return "was killed together with its supervisor"
        code = os.waitstatus_to_exitcode(self.status)
        return f"was killed by {_signal_name(-code)}" if code < 0 else f"has ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Session:
    """A leader with everything it starts."""

    def __init__(
        self,
        session_id: str,
        started: Callable[[], None],
        gone: Callable[[End], None],
        ended: Callable[[Session], None],
        check_supervisor: Callable[[], None],
    ) -> None:
        self.id = session_id
        self.leader: int | None = None
        self._started, self._gone, self._ended = started, gone, ended
        self._check_supervisor = check_supervisor
        self._own_supervisor: Process | None = None
        self._force: asyncio.Task[None] | None = None
        self._end: End | None = None
        self._is_over = self._session_supervisor_lost = self._supervisor_lost = False
        self._sweep: asyncio.Task[None] | None = None
        self.watchdog: asyncio.TimerHandle | None = None
        self._alone_callbacks: dict[int, Callable[[bool], None]] = {}
        ours, self._theirs = socket.socketpair()
        self._channel = FrameChannel(ours, limit=SMALL, received=self._received, closed=lambda _: self._lost())

    def give_away(self) -> int:
        """Detach the session supervisor's end of the connection."""
        return self._theirs.detach()

    @property
    def is_doomed(self) -> bool:
        """True if it is about to die, because one of its supervisors has."""
        return self._session_supervisor_lost or self._supervisor_lost

    def stop(self, grace: float) -> None:
        """SIGTERM to all of it, and after the grace SIGKILL."""
        self._request(do="stop", grace=grace)

    def kill(self) -> None:
        self._request(do="kill")

    def escalate(self) -> None:
        """Kill it together with its session supervisor, which has not confirmed its end in time; frozen perhaps.

        Its end is confirmed all the same before it is reported: by the supervisor, or by a search if that is dead.
        What waits inside the kernel for a broken disk survives even this, and keeps its slot.
        """
        if not self._is_over and (self._force is None or self._force.done()):
            self._force = asyncio.get_running_loop().create_task(self._kill_all())

    def extend(self, seconds: float, grace: float) -> None:
        """Let it run for `seconds`; then its supervisor stops it, even if the engine is frozen."""
        self._request(do="until", at=now() + seconds, grace=grace)

    def suspend_deadline(self) -> None:
        """Remove the deadline: nothing runs in it that a lease would have to cover."""
        self._request(do="until", at=None, grace=0.0)

    def check_alone(self, answer: Callable[[bool], None]) -> None:
        """Ask whether only the leader is left. `answer` is never called if the session dies instead."""
        number = len(self._alone_callbacks)
        self._alone_callbacks[number] = answer
        self._request(do="alone", number=number)

    async def _kill_all(self) -> None:
        if self._own_supervisor is not None:
            send(self._own_supervisor, signal.SIGKILL)
        for process in await asyncio.to_thread(marked, self.id, self.leader):
            send(process, signal.SIGKILL)
        self._check_supervisor()

    def _request(self, **message: Any) -> None:
        self._channel.send(packed(**message))

    def _received(self, frame: bytes) -> None:
        message = unpacked(frame)
        if "started" in message:
            self.leader = message["started"]
            self._own_supervisor = None if message["supervisor"] is None else Process(*message["supervisor"])
            self._cancel_watchdog()
            self._started()
        elif "alone" in message:
            answer = self._alone_callbacks.pop(message["number"])
            answer(message["alone"])
        elif "gone" in message:
            self._end = End(message["status"], message["by"], message["error"], message.get("errno"))
            self.confirm()

    def confirm(self) -> None:
        """Nothing of it is left, as reported by its session supervisor, or by the supervisor if that is dead."""
        if not self._is_over:
            self._is_over = True
            self._cancel_watchdog()
            self._channel.close()
            self._ended(self)
            self._gone(self._end or End())

    def abandon(self) -> None:
        """Stop waiting for its end."""
        self._is_over = True
        self._cancel_watchdog()
        self._channel.close()

    def _cancel_watchdog(self) -> None:
        """It has started or is gone. The pending timer would keep the whole session in memory."""
        if self.watchdog is not None:
            self.watchdog.cancel()
            self.watchdog = None

    def _lost(self) -> None:
        self._session_supervisor_lost = True
        self._sweep_if_unsupervised()

    def supervisor_lost(self) -> None:
        self._supervisor_lost = True
        self._sweep_if_unsupervised()

    def _sweep_if_unsupervised(self) -> None:
        """If its supervisor alone is dead, the main one reports the end; if both are, the engine must look itself."""
        if self._session_supervisor_lost and self._supervisor_lost and not self._is_over and self._sweep is None:
            self._sweep = asyncio.get_running_loop().create_task(self._sweep_up())

    async def _sweep_up(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            while left := await asyncio.to_thread(marked, self.id, self.leader):
                for process in left:
                    send(process, signal.SIGKILL)
                await asyncio.sleep(_SWEEP_SECONDS)
            self.confirm()
