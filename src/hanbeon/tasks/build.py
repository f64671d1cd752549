"""Build jobs from the caller's requests, rejecting here everything that needs no database to be rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.domain.batch import Batch
from hanbeon.domain.job import NewJob, check_own
from hanbeon.errors import InvalidInput, UnknownTask
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import Task

R = TypeVar("R")
# Of a request's fields, all that make its kind: without the first and the last, which are every job's own.
_KIND = slice(1, -1)
assert (JobRequest.__struct_fields__[0], JobRequest.__struct_fields__[-1]) == ("id", "args")


def request_of(tasks: Registry, task: Any, args: Mapping[str, Any] | None, options: dict[str, Any]) -> JobRequest[Any]:
    """Return the request for `enqueue(task, args, **options)`; `task` is a request, a task, or a task's name."""
    if "args" in options:
        raise InvalidInput(Rule("args_by_position"), field="args")
    if isinstance(task, JobRequest):
        if args is not None:
            raise InvalidInput(Rule("args_twice"), field="args")
        request = task
    elif isinstance(task, Task | str):
        known = tasks.get(task) if isinstance(task, str) else task
        request = JobRequest(task=known, args=known.signature.pack((), {} if args is None else args))
    else:
        raise InvalidInput(Rule("must_be", what=Rule("task_request"), got=quoted(task)), field="task")
    return request.set(**options) if options else request


def check_requests(requests: Iterable[JobRequest[R]]) -> list[JobRequest[R]]:
    """Return the requests as a list, after checking that each is one."""
    if not isinstance(requests, Iterable):
        raise InvalidInput(Rule("must_be", what=Rule("request_list"), got=quoted(requests)), field="requests")
    requests = list(requests)
    for request in requests:
        if not isinstance(request, JobRequest):
            raise InvalidInput(Rule("only_requests", got=quoted(request)), field="requests")
    return requests


def new_job(tasks: Registry, settings: Settings, request: JobRequest[Any]) -> NewJob:
    """Build the job of one request, valid by itself. What is the same for many is built and checked once."""
    _check_task(tasks, request)
    kind = _known_kind(request, settings.zone) if _recurs(request) else None
    if kind is not None:
        check_own(request.id, request.args, None, settings.max_payload_bytes)
        return msgspec.structs.replace(kind, id=request.id, args=request.args)
    job = request.to_new_job(settings.zone)
    job.validate(settings.max_payload_bytes)
    return job


def _known_kind(request: JobRequest[Any], zone: ZoneInfo) -> NewJob | None:
    """Return the kind of the request; None if it is not valid, so that the job as a whole says why."""
    try:
        return _kind(msgspec.structs.replace(request, id="", args=""), zone)
    except InvalidInput:
        return None


@lru_cache(maxsize=256)
def _kind(request: JobRequest[Any], zone: ZoneInfo) -> NewJob:
    kind = request.to_new_job(zone)
    kind.validate_shared()
    return kind


def _recurs(request: JobRequest[Any]) -> bool:
    """True if equal requests mean equal jobs: two times of the hour that comes twice are equal to Python."""
    return not request.depends_on and request.run_at is None


def _check_task(tasks: Registry, request: JobRequest[Any]) -> None:
    if tasks.get(request.task.name) is not request.task:
        raise UnknownTask(Rule("task_of_other_app", task=repr(request.task.name)), field="task")


def new_jobs(tasks: Registry, settings: Settings, requests: Iterable[JobRequest[Any]]) -> Batch:
    """Build the jobs of the requests, each valid by itself.

    Most are of a few kinds and differ only in their ids and arguments, so each kind is checked once.
    """
    batch = Batch(settings.max_payload_bytes)
    numbers: dict[tuple[Any, ...], int] = {}
    for request in requests:
        kind = msgspec.structs.astuple(request)[_KIND] if _recurs(request) else None
        if kind is not None and (number := numbers.get(kind)) is not None:
            batch.add_alike(number, request.id, request.args)
            continue
        _check_task(tasks, request)
        number = batch.add(request.to_new_job(settings.zone))
        if kind is not None:
            numbers[kind] = number
    return batch
