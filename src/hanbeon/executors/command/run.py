"""One run of a command: what it is given, what it prints and says, and what its end means."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol, cast

import msgspec

from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome, Raised
from hanbeon.domain.retry import FailureType
from hanbeon.executors.command.environment import SAID_DESCRIPTOR, as_json, command_line, environment
from hanbeon.executors.command.pipe import Pipe
from hanbeon.executors.command.progress import ProgressWriter
from hanbeon.executors.command.protocol import ProtocolFilter, ProtocolReader
from hanbeon.executors.executor import MESSAGE_LIMIT, Call, Done, StopCause, returned
from hanbeon.executors.sessions import End
from hanbeon.executors.supervisor_client import SupervisorClient
from hanbeon.tasks.command import JSON, SAID, STDOUT, TEXT, Command

_KEPT_OF_STDERR = 4_096
_AROUND_A_RESULT = 1_024  # Bytes that the protocol puts around it.


class Owner(Protocol):
    """What a run needs of its executor."""

    def now(self) -> float: ...
    def ended(self, run: Run) -> None: ...


class Run:
    """Over when nothing of it runs any more; then, and not before, `done` is called."""

    def __init__(self, supervisor: SupervisorClient, owner: Owner, call: Call, grace: float, done: Done) -> None:
        self._owner, self._call, self._grace, self._done = owner, call, grace, done
        self._command = command = cast(Command, call.task.spec)
        self._stopped = False
        self._progress = ProgressWriter(call.backend)
        self._said = ProtocolReader(call.max_result_bytes + _AROUND_A_RESULT, self._progress.put)
        self._stderr = b""
        self._stdout: bytearray | None = None if command.result == SAID else bytearray()
        self._sieve: ProtocolFilter | None = None
        hear_stdout: Callable[[bytes], None] = self._printed
        if command.protocol == STDOUT:
            self._sieve = ProtocolFilter(call.max_result_bytes + _AROUND_A_RESULT, self._said.take, self._printed)
            hear_stdout = self._sieve.feed
        self._pipes: dict[int, Pipe] = {}
        given: dict[int, int] = {}
        try:
            for number, hear in ((1, hear_stdout), (2, self._complained), (SAID_DESCRIPTOR, self._said.feed)):
                self._pipes[number] = Pipe(hear)
                given[number] = self._pipes[number].theirs
            if command.stdin:
                given[0] = _readable(as_json(call.arguments))
            self._session = supervisor.start(
                command_line(command, call.backend.job, call.arguments),
                env=environment(command, call.backend.job, call.arguments),
                descriptors=given,
                cwd=command.cwd,
                limits={} if call.task.memory is None else {"DATA": call.task.memory},
                started=self._started,
                gone=self._gone,
            )
        except BaseException:
            for descriptor in given.values():
                os.close(descriptor)
            for pipe in self._pipes.values():
                pipe.close()
            raise
        self.keep_alive()

    def stop(self, cause: StopCause) -> None:
        """SIGTERM to all of it, the grace, SIGKILL."""
        self._stopped = True
        self._session.stop(self._grace)

    def keep_alive(self) -> None:
        """Tell the keeper until when the lease allows it to run; it stops it by itself if we cannot."""
        self._session.lives(self._call.backend.give_up_at - self._owner.now(), self._grace)

    # What it does

    def _started(self) -> None:
        self._call.backend.body_began(self._owner.now())

    def _printed(self, data: bytes) -> None:
        self._call.backend.log(LogStream.STDOUT, data)
        if self._stdout is not None and len(self._stdout) <= self._call.max_result_bytes:
            self._stdout += data

    def _complained(self, data: bytes) -> None:
        self._call.backend.log(LogStream.STDERR, data)
        self._stderr = (self._stderr + data)[-_KEPT_OF_STDERR:]

    # What its end means

    def _gone(self, end: End) -> None:
        for pipe in self._pipes.values():
            pipe.drain()
        self._said.end()
        if self._sieve is not None:
            self._sieve.end()
        self._owner.ended(self)
        self._progress.finish(lambda: self._done(self._outcome(end)))

    def _outcome(self, end: End) -> Outcome | None:
        if self._stopped and end.by is not None:
            return None
        code = None if end.status is None or end.by is not None else os.waitstatus_to_exitcode(end.status)
        if code is None or code < 0:
            return Raised(f"the command {end}{_remedy(end)}", FailureType.SESSION_ERROR)
        meaning = self._command.meaning(code)
        if self._said.ending is not None:
            return self._said.ending
        if not meaning.is_success:
            return meaning.failure(self._message(f"exit code {code}"))
        if complaint := self._said.complaint or self._progress.complaint:
            return Raised(complaint, FailureType.INVALID)
        return self._result()

    def _result(self) -> Outcome:
        if self._stdout is None or self._said.result is not None:
            return returned(self._call, self._said.result)
        text = self._stdout.decode(errors="replace")
        if self._command.result == TEXT or len(self._stdout) > self._call.max_result_bytes:
            return returned(self._call, text)
        try:
            return returned(self._call, msgspec.json.decode(text))
        except msgspec.DecodeError as error:
            return Raised(f"its stdout is not the JSON that result = {JSON!r} asks for: {error}", FailureType.INVALID)

    def _message(self, what: str) -> str:
        """With the last line that it wrote to stderr: most programs say there what is wrong."""
        lines = self._stderr.decode(errors="replace").strip().splitlines()
        return f"{what}: {lines[-1].strip()}"[:MESSAGE_LIMIT] if lines else what


def _remedy(end: End) -> str:
    return "; check the program and PATH of the task on this worker" if end.error is not None else ""


def _readable(text: str) -> int:
    """A descriptor from which the text can be read with nobody writing: no pipe would take all of it at once."""
    descriptor = os.memfd_create("hanbeon-arguments", os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(text.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
