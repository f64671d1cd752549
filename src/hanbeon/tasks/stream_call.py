"""A task whose jobs are done by stream workers, in any language, or in-process where no Redis is configured."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from hanbeon.clock import seconds_of
from hanbeon.domain.job import Claimed
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.outcome import Cancelled, Outcome, Raised, Returned
from hanbeon.domain.retry import FailureType
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.stream_worker.request import Request, Work
from hanbeon.tasks.options import check_names, types_by_name
from hanbeon.tasks.parameters import Parameters
from hanbeon.tasks.task import STREAM, Task, TaskOptions, defining

WINDOW = 1_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_LEASE = 7 * 86_400


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The result that a worker reported; `result` is JSON text."""

    status: str
    result_uri: str | None = None
    checksum: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    result: str | None = None
    permanent: bool = False


class StreamCall(msgspec.Struct, frozen=True, kw_only=True):
    """The streams `<name>.requests|progress|results|deadletter`, and what their messages mean.

    A surface with messages of its own derives from it.
    """

    executor: ClassVar[str] = STREAM
    ids_statement: ClassVar[str | None] = None
    """Translates a worker's `jobId`s: a named statement that takes numbers as JSON and returns `wire_id` and `id`,
    and what `of_attempt` compares. None: a `jobId` is the job's id.
    """

    dead_types: ClassVar[frozenset[str]] = frozenset()
    """Failure types of results that are also moved to the dead letters, such as a path outside the allowed ones."""

    name: str
    work: Work | None = None
    lease: float | None = None
    """How long a worker may stay silent, in seconds; None: as long as the job's timeout."""
    window: int = WINDOW
    params: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, value: Any, work: Work | None, params: Mapping[str, Any] | None) -> StreamCall:
        """Parse the table of a stream."""
        if not isinstance(value, Mapping):
            raise InvalidInput(Rule("must_be", what=Rule("stream_table"), got=quoted(value)), field="stream")
        check_names(value, _READ, "a stream")
        if "name" not in value:
            raise InvalidInput(Rule("stream_name_missing"), field="stream.name")
        given = {field: _READ[field](each, f"stream.{field}") for field, each in value.items()}
        return cls(**given, work=work, params=params)

    def signature(self, task: str) -> Parameters:
        return Parameters(task, self.params, ())

    def request(self, job: Claimed) -> Request:
        """Return the request of an attempt. It must depend on the job alone: it may be built again."""
        options = {"args": msgspec.json.decode(job.args), "fence": job.fence}
        return Request(job_id=job.id, job_type=job.task, options=options)

    def to_wire(self, job: Claimed) -> tuple[str, str]:
        """Return the `jobId` under which workers know the job, and the fields of its request as JSON."""
        request = self.request(job)
        return request.job_id, msgspec.json.encode(request.to_fields()).decode()

    def fence_of(self, result_uri: str) -> int | None:
        """Return the attempt that a result's path belongs to, where paths tell."""
        return None

    def output_path(self, row: Mapping[str, Any], fence: int) -> str | None:
        """Return the only path that an attempt may name, from a row of `ids_statement`; None: any."""
        return None

    def of_attempt(self, outcome: Outcome, reply: Reply, output_path: str | None) -> Outcome:
        """Return the outcome, or a failure if the reply cannot be that of an attempt which was given this path."""
        return outcome

    def outcome(self, reply: Reply, max_bytes: int) -> Outcome:
        """Return the outcome of a worker's result."""
        if reply.status == "CANCELLED":
            return Cancelled()
        if reply.status == "FAILED":
            failure_type = reply.error_code or FailureType.ERROR
            return Raised(reply.error_message or failure_type, failure_type, reply.permanent)
        text = reply.result
        if text is None:
            fields = {"resultUri": reply.result_uri, "checksum": reply.checksum}
            text = to_json_text({k: v for k, v in fields.items() if v is not None} or None, "result", "result")
        if len(text.encode()) > max_bytes:
            message = f"result: over the limit of {max_bytes:,} bytes; store it elsewhere and return a reference"
            return Raised(message, FailureType.INVALID, permanent=True)
        return Returned(text)

    def __str__(self) -> str:
        return f"the stream {self.name}"


def _stream_name(value: Any, field: str) -> str:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise InvalidInput(Rule("must_be", what=Rule("stream_name"), got=quoted(value)), field=field)


def _lease(value: Any, field: str) -> float:
    seconds = seconds_of(value, field) if isinstance(value, str) else value
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 1 <= seconds <= _LONGEST_LEASE:
        return float(seconds)
    raise InvalidInput(Rule("must_be", what=Rule("stream_timeout"), got=quoted(value)), field=field)


def _window(value: Any, field: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1_000_000:
        return value
    raise InvalidInput(Rule("must_be", what=Rule("backlog"), got=quoted(value)), field=field)


_READ: dict[str, Callable[[Any, str], Any]] = {"name": _stream_name, "lease": _lease, "window": _window}
_OF_TASK = frozenset({"params", *TaskOptions.__struct_fields__}) - {"executor", "memory", "keep_result"}


def stream_task(name: str, stream: Any, work: Work | None, options: Mapping[str, Any]) -> Task[..., Any]:
    """Build a task of a stream, from the stream's table, the function that does it in-process, and its options."""
    with defining(name):
        check_names(options, _OF_TASK, "a stream task")
        if work is not None and not callable(work):
            raise InvalidInput(Rule("must_be", what=Rule("work_function"), got=quoted(work)), field="work")
        params = types_by_name(options["params"], "params") if "params" in options else None
        spec = StreamCall.of(stream, work, params)
    return Task(name, spec, TaskOptions.of(name, {k: v for k, v in options.items() if k != "params"}))


def stream_task_of(name: str, stream: str, work: Work | None, options: Mapping[str, Any]) -> Task[..., Any]:
    """Like `stream_task`, with the options of the stream and of its jobs together."""
    of_stream = {field: value for field, value in options.items() if field in _READ and field != "name"}
    rest = {field: value for field, value in options.items() if field not in of_stream}
    return stream_task(name, {"name": stream, **of_stream}, work, rest)
