"""The engine's side of one session of processes: stopped when it is asked, and known to be dead."""

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
from hanbeon.executors.supervisor.processes import marked, send
from hanbeon.executors.supervisor.wire import SMALL, packed, unpacked

_SWEEP_SECONDS = 0.05


class End(NamedTuple):
    """How a session ended: its leader's status as of waitpid, and who ended it if that was not itself."""

    status: int | None = None
    by: str | None = None
    error: str | None = None

    def __str__(self) -> str:
        if self.error is not None:
            return f"cannot be started: {self.error}"
        if self.by == "until":
            return "was stopped because this worker stood still for so long that its lease was in danger"
        if self.status is None:
            return "was killed together with its guardian"
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
    ) -> None:
        self.id = session_id
        self.leader: int | None = None
        self._started, self._gone, self._ended = started, gone, ended
        self._end: End | None = None
        self._is_over = self._keeper_lost = self._guardian_lost = False
        self._sweep: asyncio.Task[None] | None = None
        self.watchdog: asyncio.TimerHandle | None = None
        self._asked: dict[int, Callable[[bool], None]] = {}
        ours, self._theirs = socket.socketpair()
        self._channel = FrameChannel(ours, limit=SMALL, heard=self._heard, closed=lambda _: self._lost())

    def give_away(self) -> int:
        """The keeper's end of the connection."""
        return self._theirs.detach()

    @property
    def is_doomed(self) -> bool:
        """Whether it is about to die, because its keeper or guardian has."""
        return self._keeper_lost or self._guardian_lost

    def stop(self, grace: float) -> None:
        """SIGTERM to all of it, and after the grace SIGKILL."""
        self._order(do="stop", grace=grace)

    def kill(self) -> None:
        self._order(do="kill")

    def lives(self, seconds: float, grace: float) -> None:
        """Unless this is said again, it is stopped after `seconds` although nobody asks: the engine may be frozen."""
        self._order(do="until", at=now() + seconds, grace=grace)

    def rests(self) -> None:
        """Nothing runs in it that a lease would have to cover."""
        self._order(do="until", at=None, grace=0.0)

    def ask_alone(self, answer: Callable[[bool], None]) -> None:
        """Whether nothing but the leader is left of it. There is no answer if it dies instead."""
        number = len(self._asked)
        self._asked[number] = answer
        self._order(do="alone", number=number)

    def _order(self, **message: Any) -> None:
        self._channel.send(packed(**message))

    def _heard(self, frame: bytes) -> None:
        said = unpacked(frame)
        if "started" in said:
            self.leader = said["started"]
            self._call_off()
            self._started()
        elif "alone" in said:
            answer = self._asked.pop(said["number"])
            answer(said["alone"])
        elif "gone" in said:
            self._end = End(said["status"], said["by"], said["error"])
            self.confirm()

    def confirm(self) -> None:
        """Nothing of it is left, says its keeper, or the guardian in a dead keeper's place."""
        if not self._is_over:
            self._is_over = True
            self._call_off()
            self._channel.close()
            self._ended(self)
            self._gone(self._end or End())

    def abandon(self) -> None:
        """Nobody here waits for it any more."""
        self._is_over = True
        self._call_off()
        self._channel.close()

    def _call_off(self) -> None:
        """It has started or is gone. Left alone, the timer would hold on to all of it for its whole time."""
        if self.watchdog is not None:
            self.watchdog.cancel()
            self.watchdog = None

    def _lost(self) -> None:
        self._keeper_lost = True
        self._see_to_it()

    def guardian_lost(self) -> None:
        self._guardian_lost = True
        self._see_to_it()

    def _see_to_it(self) -> None:
        """With its keeper dead the guardian says when it is gone; with both dead, nobody but us is left to look."""
        if self._keeper_lost and self._guardian_lost and not self._is_over and self._sweep is None:
            self._sweep = asyncio.get_running_loop().create_task(self._sweep_up())

    async def _sweep_up(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            while left := await asyncio.to_thread(marked, self.id, self.leader):
                for process in left:
                    send(process, signal.SIGKILL)
                await asyncio.sleep(_SWEEP_SECONDS)
            self.confirm()
