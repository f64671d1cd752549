"""One run of a command: its command line, environment and input, its output and messages, and its outcome."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn, Protocol, cast

import msgspec

from hanbeon.domain.job import Claimed
from hanbeon.domain.json_text import check_depth
from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome, Raised
from hanbeon.domain.retry import FailureType
from hanbeon.domain.trace_context import current_trace
from hanbeon.errors import InvalidInput
from hanbeon.executors.command.protocol import Pipe, ProgressWriter, ProtocolFilter, ProtocolReader
from hanbeon.executors.executor import MESSAGE_LIMIT, Call, Done, StopCause, report, returned
from hanbeon.executors.sessions import End
from hanbeon.executors.supervisor_client import SupervisorClient
from hanbeon.tasks.command import JSON, SAID, STDOUT, TEXT, Command
from hanbeon.tasks.template import ARGS, JOB, as_text, template_vars

# The kernel limits a variable to 128 KiB. Longer values are still on stdin.
_LONGEST = 96 * 1024
_NO_NAME = re.compile(r"[^A-Za-z0-9]")
PROTOCOL_DESCRIPTOR = 3


def command_line(command: Command, job: Claimed, arguments: Mapping[str, Any]) -> list[str]:
    values = {ARGS: arguments, JOB: template_vars(job)}
    return [part.fill(values) for part in command.argv]


def as_json(arguments: Mapping[str, Any]) -> str:
    """All arguments, those that have their defaults included: stdin and environment agree."""
    return msgspec.json.encode(arguments).decode()


def environment(command: Command, job: Claimed, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables passed on from the worker, those the task sets, and the facts of the job."""
    found = {name: os.environ[name] for name in command.pass_env if name in os.environ}
    found |= command.env
    of_job = {
        f"HANBEON_{'JOB_ID' if name == 'id' else name.upper()}": value for name, value in template_vars(job).items()
    }
    of_job |= {f"HANBEON_ARG_{_NO_NAME.sub('_', name).upper()}": value for name, value in arguments.items()}
    of_job |= {"HANBEON_ARGS": as_json(arguments), "HANBEON_IDEMPOTENCY_KEY": job.id, "HANBEON_FD": PROTOCOL_DESCRIPTOR}
    if (trace := current_trace()) is not None:
        # Names that other tools look for.
        of_job |= {name.upper(): value for name, value in trace.headers.items()}
    for name, value in of_job.items():
        text = as_text(value)
        if len(text.encode(errors="replace")) <= _LONGEST and "\x00" not in text:
            found[name] = text
    return found


_KEPT_OF_STDERR = 4_096
_AROUND_A_RESULT = 1_024  # Bytes that the protocol puts around it.


class Owner(Protocol):
    """The part of the executor that a run uses."""

    def now(self) -> float: ...
    def ended(self, run: Run) -> None: ...


class Run:
    """Ends when nothing of it runs any more; then, and not before, `done` is called."""

    def __init__(self, supervisor: SupervisorClient, owner: Owner, call: Call, grace: float, done: Done) -> None:
        self._owner, self._call, self._grace, self._done = owner, call, grace, done
        self._command = command = cast(Command, call.task.spec)
        self._stopped = False
        self._progress = ProgressWriter(call.backend)
        self._messages = ProtocolReader(call.max_result_bytes + _AROUND_A_RESULT, self._progress.put)
        self._stderr = b""
        self._stdout: bytearray | None = None if command.result == SAID else bytearray()
        self._filter: ProtocolFilter | None = None
        on_stdout: Callable[[bytes], None] = self._wrote_stdout
        if command.protocol == STDOUT:
            self._filter = ProtocolFilter(
                call.max_result_bytes + _AROUND_A_RESULT, self._messages.take, self._wrote_stdout
            )
            on_stdout = self._filter.feed
        self._pipes: dict[int, Pipe] = {}
        given: dict[int, int] = {}
        try:
            for number, on_data in (
                (1, on_stdout),
                (2, self._wrote_stderr),
                (PROTOCOL_DESCRIPTOR, self._messages.feed),
            ):
                self._pipes[number] = Pipe(on_data)
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

    def escalate(self) -> None:
        """SIGKILL, without waiting for its supervisor."""
        self._session.escalate()

    def keep_alive(self) -> None:
        """Extend the deadline to the end of the lease; the supervisor enforces it if the engine cannot."""
        self._session.extend(self._call.backend.give_up_at - self._owner.now(), self._grace)

    # Output

    def _started(self) -> None:
        self._call.backend.body_began(self._owner.now())

    def _wrote_stdout(self, data: bytes) -> None:
        self._call.backend.log(LogStream.STDOUT, data)
        if self._stdout is not None and len(self._stdout) <= self._call.max_result_bytes:
            self._stdout += data

    def _wrote_stderr(self, data: bytes) -> None:
        self._call.backend.log(LogStream.STDERR, data)
        self._stderr = (self._stderr + data)[-_KEPT_OF_STDERR:]

    # The end

    def _gone(self, end: End) -> None:
        self._owner.ended(self)
        try:
            for pipe in self._pipes.values():
                pipe.read_rest()
            self._messages.end()
            if self._filter is not None:
                self._filter.end()
        except Exception as error:
            report(self._done, partial(_reraise, error))
        else:
            self._progress.finish(lambda: report(self._done, lambda: self._outcome(end)))
        finally:
            for pipe in self._pipes.values():
                pipe.close()

    def _outcome(self, end: End) -> Outcome | None:
        if self._stopped and end.error is None and (end.by is not None or end.status is None):
            return None
        code = None if end.status is None or end.by is not None else os.waitstatus_to_exitcode(end.status)
        if end.errno == errno.E2BIG:
            return too_long(f"the command cannot be started: {end.error}")
        if code is None or code < 0:
            return Raised(f"the command {end}{_remedy(end)}", FailureType.SESSION_ERROR)
        meaning = self._command.meaning(code)
        if self._messages.ending is not None:
            return self._messages.ending
        if not meaning.is_success:
            return meaning.failure(self._message(f"exit code {code}"))
        if error := self._messages.error or self._progress.error:
            return Raised(error, FailureType.INVALID)
        return self._result()

    def _result(self) -> Outcome:
        if self._stdout is None or self._messages.result is not None:
            return returned(self._call, self._messages.result)
        text = self._stdout.decode(errors="replace")
        if self._command.result == TEXT or len(self._stdout) > self._call.max_result_bytes:
            return returned(self._call, text.removesuffix("\n").removesuffix("\r"))
        try:
            check_depth(text, "result")
            return returned(self._call, msgspec.json.decode(text))
        except (msgspec.MsgspecError, RecursionError, InvalidInput) as error:
            return Raised(f"its stdout must be JSON because of result = {JSON!r}: {error}", FailureType.INVALID)

    def _message(self, what: str) -> str:
        """Append the last line of stderr: most programs explain their failure there."""
        lines = self._stderr.decode(errors="replace").strip().splitlines()
        return f"{what}: {lines[-1].strip()}"[:MESSAGE_LIMIT] if lines else what


def too_long(message: str) -> Raised:
    """Return the failure of a job whose arguments do not fit into a command line and environment: for good."""
    remedy = "pass less, or read the arguments from stdin instead of {args.…}"
    return Raised(f"{message}; {remedy}"[:MESSAGE_LIMIT], FailureType.INVALID)


def _reraise(error: Exception) -> NoReturn:
    raise error


def _remedy(end: End) -> str:
    return "; check the program and PATH of the task on this worker" if end.error is not None else ""


def _readable(text: str) -> int:
    """Return a descriptor to read the text from without a writer: a pipe would not take all of it at once."""
    descriptor = os.memfd_create("hanbeon-arguments", os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(text.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
