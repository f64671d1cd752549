"""Build jobs from the caller's requests, rejecting here everything that needs no database to be rejected."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.domain.batch import Batch, JobTemplate, template_of
from hanbeon.domain.job import NewJob, check_keys, check_own, check_size
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import ArgumentsDoNotFit, InvalidInput, UnknownTask
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


def request_of(tasks: Registry, task: Any, args: Any, options: Any) -> JobRequest[Any]:
    """Return the request for `enqueue(task, args, **options)`; `task` is a request, a task, or a task's name."""
    if "args" in options:
        raise InvalidInput(Rule("args_by_position"), field="args")
    if isinstance(task, JobRequest):
        if args is not None:
            raise InvalidInput(Rule("args_twice"), field="args")
        request = task
    elif isinstance(task, Task | str):
        known = tasks.get(task) if isinstance(task, str) else task
        if not (args is None or isinstance(args, Mapping)):
            example = '{"name": value}'
            raise ArgumentsDoNotFit(
                Rule("arguments_by_name", example=example, task=known.name, got=quoted(args)), field="args"
            )
        request = JobRequest(task=known, args=known.signature.pack((), {} if args is None else args))
    elif inspect.iscoroutine(task):
        task.close()  # It never runs, and is no news to Python.
        raise InvalidInput(Rule("task_was_called", task=task.__name__), field="task")
    else:
        raise InvalidInput(Rule("must_be", what=Rule("task_request"), got=quoted(task)), field="task")
    return request.set(**options) if options else request


def packed_args(tasks: Registry, task: str, args: Mapping[str, Any], most: int) -> str:
    """Return arguments as JSON, checked against the task if it is registered here; otherwise its worker checks them."""
    if task in tasks.by_name:
        packed = tasks.get(task).signature.pack((), args)
    else:
        packed = to_json_text(dict(args), "an argument", "args")
    check_size("args", packed, most)
    return packed


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
    template = _known_template(request, settings.zone_of_naive) if _recurs(request) else None
    if template is not None:
        check_own(request.id, request.args, None, settings.max_payload_bytes)
        if request.idempotency_key is None and request.unique_key is None:
            return template.make(request.id, request.args)
        check_keys(request.idempotency_key, request.unique_key)
        return template.make(request.id, request.args, None, (request.idempotency_key, request.unique_key, None))
    job = request.to_new_job(settings.zone_of_naive)
    job.validate(settings.max_payload_bytes)
    return job


def _known_template(request: JobRequest[Any], zone: ZoneInfo | None) -> JobTemplate | None:
    """Return the template of the request; None if it is not valid, so that the job as a whole says why."""
    try:
        return _template(msgspec.structs.replace(request, id="", args="", idempotency_key=None, unique_key=None), zone)
    except InvalidInput:
        return None


@lru_cache(maxsize=256)
def _template(request: JobRequest[Any], zone: ZoneInfo | None) -> JobTemplate:
    job = request.to_new_job(zone)
    job.validate_shared()
    return template_of(job)


def _recurs(request: JobRequest[Any]) -> bool:
    """True if equal requests mean equal jobs: two times of the hour that comes twice are equal to Python."""
    return not request.depends_on and request.run_at is None and not isinstance(request.expires, dt.datetime)


def _check_task(tasks: Registry, request: JobRequest[Any]) -> None:
    if tasks.get(request.task.name) is not request.task:
        raise UnknownTask(Rule("task_of_other_app", task=repr(request.task.name)), field="task")


def new_jobs(tasks: Registry, settings: Settings, requests: Iterable[JobRequest[Any]]) -> Batch:
    """Build the jobs of the requests, each valid by itself. Most are of a few templates."""
    batch = Batch(settings.max_payload_bytes)
    numbers: dict[tuple[Any, ...], int] = {}
    for request in requests:
        shared, keys = request, None
        if request.idempotency_key is not None or request.unique_key is not None:
            keys = (request.idempotency_key, request.unique_key, None)
            shared = msgspec.structs.replace(request, idempotency_key=None, unique_key=None)
        kind = msgspec.structs.astuple(shared)[_KIND] if _recurs(request) else None
        if kind is not None and (number := numbers.get(kind)) is not None:
            batch.add_alike(number, request.id, request.args, None, keys)
            continue
        _check_task(tasks, request)
        number = batch.add(request.to_new_job(settings.zone_of_naive))
        if kind is not None:
            numbers[kind] = number
    return batch
