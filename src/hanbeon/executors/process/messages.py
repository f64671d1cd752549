"""Messages between the engine and a worker process, and references to a task's function in them."""

from __future__ import annotations

import functools
import importlib
import multiprocessing.spawn
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import msgspec

from hanbeon.domain.job import Claimed, NewJob
from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import PutOff, Raised, Returned
from hanbeon.domain.retry import ExceptionFilter
from hanbeon.errors import TaskDefinitionError
from hanbeon.executors.supervisor.wire import framed
from hanbeon.rule import Rule
from hanbeon.tasks.task import Task

MAIN = "__main__"


def main_program(module: str) -> str | None:
    """For a function of `__main__`: the module or file to load instead, as `multiprocessing` does when it spawns."""
    if module != MAIN:
        return None
    main = sys.modules[MAIN]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name is not None:
        return f"module {spec.name}"
    path = getattr(main, "__file__", None)
    if path is None:
        raise TaskDefinitionError(Rule("program_not_a_file"))
    return f"file {path}"


def load_function(module: str, function: str, main: str | None) -> Callable[..., Any]:
    """Import the module and return the function; once per process."""
    found: Any = importlib.import_module(module) if main is None else _main(main)
    for name in function.split("."):
        found = getattr(found, name)
    if isinstance(found, Task):
        found = found.function
    if not callable(found):
        raise TaskDefinitionError(
            Rule("not_a_task_function", module=module, function=function, kind=type(found).__name__)
        )
    return found  # type: ignore[no-any-return]


@functools.cache
def _main(main: str) -> ModuleType:
    kind, _, name = main.partition(" ")
    # Under the name __mp_main__, so that what stands behind `if __name__ == "__main__"` does not run.
    multiprocessing.spawn.prepare({f"init_main_from_{'name' if kind == 'module' else 'path'}": name})
    return sys.modules[MAIN]


CHANNEL = 3
"""The descriptor through which a worker process receives its jobs."""
SLACK = 1_048_576  # Room in a message beside the payload: names, dependencies, a traceback.
LOG_CHUNK = 65_536


class Setup(msgspec.Struct, tag=True):
    """The first message: the state of the engine's process to copy."""

    path: list[str]
    argv: list[str]
    folder: str
    zone: str | None
    """That of naive moments, if one was chosen."""
    max_payload_bytes: int
    capture: bool
    """True if output and log records of bodies are copied to the logs of their jobs."""


class RunJob(msgspec.Struct, tag=True):
    """One job. `main` is the program that the module `__main__` is, where the function is in that."""

    job: Claimed
    module: str
    function: str
    main: str | None
    max_result_bytes: int
    trace: str | None = None
    """The context of the attempt's span."""
    retried: ExceptionFilter | None = None
    keep_result: bool = True
    soft_timeout: float | None = None


class Reply(msgspec.Struct, tag=True):
    """The reply to Started, a Progress or a Child: the code of an error, or None."""

    code: str | None = None
    message: str = ""


class Started(msgspec.Struct, tag=True):
    """The function is loaded, which it was not before: the body begins with the reply."""


class Progress(msgspec.Struct, tag=True):
    value: str


class Child(msgspec.Struct, tag=True):
    job: NewJob


class Printed(msgspec.Struct, tag=True):
    """Output for the job's log. There is no reply."""

    stream: LogStream
    data: bytes


class Ended(msgspec.Struct, tag=True):
    """The body has ended. `leaving`: the process waits for no other job. `alone`: nothing that it started is left."""

    outcome: Returned | Raised | PutOff
    leaving: bool = False
    alone: bool = False


ToWorker = Setup | RunJob | Reply
FromWorker = Started | Progress | Child | Printed | Ended
_to_worker: msgspec.msgpack.Decoder[ToWorker] = msgspec.msgpack.Decoder(ToWorker)
_from_worker: msgspec.msgpack.Decoder[FromWorker] = msgspec.msgpack.Decoder(FromWorker)


def encode(message: ToWorker | FromWorker) -> bytes:
    return framed(msgspec.msgpack.encode(message))


def for_worker(frame: bytes) -> ToWorker:
    return _to_worker.decode(frame)


def from_worker(frame: bytes) -> FromWorker:
    """Raises msgspec.MsgspecError for anything else."""
    return _from_worker.decode(frame)


def limit(max_payload_bytes: int) -> int:
    """The maximum size of a message."""
    return max_payload_bytes + SLACK
