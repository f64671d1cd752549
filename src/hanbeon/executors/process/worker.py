"""The engine's side of one worker process: its job, that job's requests, and how both end."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from typing import Protocol

import msgspec

from hanbeon.domain.outcome import Outcome, Raised
from hanbeon.domain.retry import FailureType
from hanbeon.errors import HanbeonError
from hanbeon.executors.channel import FrameChannel
from hanbeon.executors.executor import MESSAGE_LIMIT, Call, Done
from hanbeon.executors.process import messages
from hanbeon.executors.process.messages import Child, Ended, FromWorker, Printed, Progress, Reply, Setup, Started
from hanbeon.executors.sessions import End
from hanbeon.executors.supervisor_client import ROOT, SupervisorClient
from hanbeon.logs import get_logger

_log = get_logger("hanbeon.tasks")
_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from hanbeon.executors.process.child import main; main()"


class Owner(Protocol):
    """The part of the executor that a worker process uses."""

    def now(self) -> float: ...
    def freed(self, process: WorkerProcess) -> bool:
        """Take back a process without a job; return True if it is idle now."""
        ...

    def ended(self, process: WorkerProcess) -> None:
        """Nothing is left of it."""
        ...


class _Job:
    __slots__ = ("call", "done", "outcome", "pending", "stopped")

    def __init__(self, call: Call, done: Done) -> None:
        self.call, self.done = call, done
        self.outcome: Outcome | None = None
        self.pending: asyncio.Task[None] | None = None
        self.stopped = False


class WorkerProcess:
    """Runs one job at a time. That is over when nothing of it runs any more: the process alone again, or all dead."""

    def __init__(
        self, supervisor: SupervisorClient, owner: Owner, setup: Setup, memory: int | None, grace: float
    ) -> None:
        self._owner, self._grace = owner, grace
        self.memory = memory
        self.jobs = 0
        self.idle_since = 0.0
        self._job: _Job | None = None
        self._is_dying = False
        self.is_starting = True
        self._loaded: set[tuple[str, str]] = set()
        self._deadline: float | None = None
        self._violation: str | None = None
        ours, theirs = socket.socketpair()
        limit = messages.limit(setup.max_payload_bytes)
        self._channel = FrameChannel(ours, limit=limit, received=self._received, closed=self._cut_off)
        self._session = supervisor.start(
            [sys.executable, *_flags(), "-P", "-c", _PROGRAM, ROOT],
            env=os.environ,
            descriptors={messages.CHANNEL: theirs.detach()},
            limits={} if memory is None else {"DATA": memory},
            gone=self._gone,
        )
        self._channel.send(messages.encode(setup))

    @property
    def pid(self) -> int | None:
        return self._session.leader

    @property
    def is_fit(self) -> bool:
        """True if it can take a job."""
        return not self._is_dying and not self._session.is_doomed

    def run(self, call: Call, request: bytes, done: Done, *, has_waited: bool) -> None:
        """Start the body; `done` is called when it has ended and nothing of it runs.

        `has_waited`: the database has a note that the body has not begun, which is removed first.
        """
        self._job = _Job(call, done)
        self.jobs += 1
        now, until, deadline = self._owner.now(), call.backend.give_up_at, self._deadline
        # The deadline of the previous job is often good enough for this one, and the next tick is soon.
        if deadline is None or not now + (until - now) / 2 <= deadline <= until:
            self.keep_alive()
        if _function(call) not in self._loaded:
            call.backend.awaits_begin()
            self._channel.send(request)
        elif has_waited:
            self._job.pending = asyncio.get_running_loop().create_task(self._send(self._job, request))
        else:
            self._channel.send(request)
            # Not at once: `start` must have returned to the engine first.
            asyncio.get_running_loop().call_soon(call.backend.body_began, now)

    def keep_alive(self) -> None:
        """Extend the deadline to the end of the job's lease; the supervisor enforces it if the engine cannot."""
        if self._job is not None:
            self._deadline = self._job.call.backend.give_up_at
            self._session.extend(self._deadline - self._owner.now(), self._grace)

    def stop_job(self, call: Call) -> None:
        """Stop this job, unless another has begun already."""
        if self._job is not None and self._job.call is call:
            self._job.stopped = True
            self.stop()

    def stop(self) -> None:
        """SIGTERM, the grace, SIGKILL; and no other job after this one."""
        self._is_dying = True
        self._session.stop(self._grace)

    def escalate(self, call: Call) -> None:
        """SIGKILL, without waiting for its supervisor, unless another job has begun already."""
        if self._job is not None and self._job.call is call:
            self._is_dying = True
            self._session.escalate()

    def _kill(self) -> None:
        self._is_dying = True
        self._session.kill()

    # Messages

    def _received(self, frame: bytes) -> None:
        try:
            message = messages.from_worker(frame)
        except msgspec.MsgspecError as error:
            return self._breach(f"sent an invalid message: {error}")
        if self._job is None or self._job.outcome is not None:
            return self._breach("sent a message while it had no job")
        return self._take(self._job, message)

    def _take(self, job: _Job, message: FromWorker) -> None:
        match message:
            case Started():
                self.is_starting = False
                self._loaded.add(_function(job.call))
                job.pending = asyncio.get_running_loop().create_task(self._answer(job, message))
            case Printed(stream, data):
                job.call.backend.log(stream, data)
            case Progress() | Child():
                if job.pending is not None and not job.pending.done():
                    return self._breach("sent a request before the reply to its last one")
                job.pending = asyncio.get_running_loop().create_task(self._answer(job, message))
            case Ended(outcome, leaving, alone):
                job.outcome = outcome
                if leaving:
                    self.stop()  # It goes by itself; what it leaves behind goes with it.
                elif self._is_dying:
                    # The SIGTERM was its body's, and it would wait for another job until the end of the grace.
                    self._channel.close()
                elif alone:
                    self._checked_alone(job, alone)
                else:
                    self._session.check_alone(lambda alone: self._checked_alone(job, alone))
        return None

    async def _send(self, job: _Job, request: bytes) -> None:
        """Send the job once the database knows that its body begins."""
        try:
            await job.call.backend.begin_noted()
        except Exception as error:
            _log.warning("not_begun", job=job.call.backend.job.id, error=str(error))
            return self.stop_job(job.call)
        if job is self._job and not self._is_dying:
            job.call.backend.body_began(self._owner.now())
            self._channel.send(request)
        return None

    async def _answer(self, job: _Job, message: Started | Progress | Child) -> None:
        answer = Reply()
        try:
            if isinstance(message, Started):
                await job.call.backend.begin_noted()
                job.call.backend.body_began(self._owner.now())
            elif isinstance(message, Child):
                job.call.backend.add_child(message.job)
            else:
                await job.call.backend.write_progress(msgspec.json.decode(message.value))
        except HanbeonError as error:
            answer = Reply(error.code, str(error)[:MESSAGE_LIMIT])
        except Exception as error:
            # The body waits for a reply in any case.
            _log.exception("request_failed", job=job.call.backend.job.id)
            answer = Reply(HanbeonError.code, type(error).__name__)
        self._channel.send(messages.encode(answer))

    # The end

    def _checked_alone(self, job: _Job, alone: bool) -> None:
        if self._is_dying or job is not self._job:
            return
        if alone:
            self._job = None
            try:
                if self._owner.freed(self):
                    self._deadline = None
                    self._session.suspend_deadline()
            finally:
                job.done(job.outcome)
        else:
            # What a body leaves running is still its work: no other job beside it, and the slot not free before.
            _log.warning("task_left_processes", job=job.call.backend.job.id, task=job.call.task.name)
            self._kill()

    def _breach(self, violation: str) -> None:
        self._violation = self._violation or violation
        self._kill()

    def _cut_off(self, why: str) -> None:
        """Its end of the connection is closed: it is dying, or its body has closed what it should not."""
        if not self._is_dying:
            self._violation = self._violation or why
            self._kill()

    def _gone(self, end: End) -> None:
        self._channel.read_rest()
        self._channel.close()
        job, self._job = self._job, None
        try:
            self._owner.ended(self)
        finally:
            if job is not None:
                self._ended(job, end)

    def _ended(self, job: _Job, end: End) -> None:
        if job.pending is not None:
            job.pending.cancel()
        if job.outcome is None and not job.stopped:
            job.outcome = Raised(f"the worker process {self._violation or end}", FailureType.SESSION_ERROR)
        job.done(job.outcome)


def _function(call: Call) -> tuple[str, str]:
    function = call.task.function
    return function.__module__, function.__qualname__


def _flags() -> list[str]:
    """Return the interpreter flags of the engine's own process: warnings, -X options and the like."""
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return flags
