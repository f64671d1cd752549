"""docs/jobs.md, generated from the options that tasks and jobs accept and from the table of transitions."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.tasks.command import Command
from hanbeon.tasks.request import JobOptions
from hanbeon.tasks.task import TaskOptions
from tools.docs import lifecycle
from tools.docs.http_options import SECTION, http_rows
from tools.docs.markdown import table

PATH = "jobs.md"
SOURCE = "src/hanbeon/tasks, src/hanbeon/domain/lifecycle.py or tools/docs/jobs.py"

_OF_A_TASK = {
    "queue": "The queue of its jobs.",
    "role": "The role of its jobs, for limits per role; empty: none.",
    "priority": "Lower runs first; a 32-bit number.",
    "timeout": "Seconds from the start of the body until it is stopped.",
    "soft_timeout": "Seconds from the start of the body until `SoftTimeout` is raised in it. Python only.",
    "expires": "Seconds from the creation of a job by which it must have ended, waits and retries included.",
    "retries": "The number of retries after a failed attempt.",
    "retry_delay": "Seconds before the first retry.",
    "backoff": "How the delay grows: `exponential` (base·2ⁿ) or `linear` (base·(n+1)); at most an hour.",
    "jitter": "The share, 0 to 1, by which a delay may be lengthened at random.",
    "on_lost": "When an attempt is lost with its worker: `retry` (at least once) or `fail` (at most once).",
    "executor": "`async` for coroutines, `thread` for plain functions, `process` for those with a timeout or `memory`.",
    "memory": 'The memory limit of its process: bytes, or text like `"512MB"`; for plain functions and commands.',
    "roles": "The roles it may serve; a job of another role is refused. None: any.",
    "retry_on": "Exception classes; any other exception of its body is not retried. Python only.",
    "keep_result": "False: results are not stored; `job.result()` raises `ResultNotKept`. Not for stream tasks.",
    "no_retry_on": "Exception classes that are not retried; it wins over `retry_on`. Python only.",
}
_OF_A_JOB = {
    "id": "A lower-case UUID; enqueued again with the same contents, it is the same job.",
    "queue": "Overrides the task's.",
    "role": "Overrides the task's.",
    "concurrency_key": "The key for limits per key; empty: none.",
    "priority": "Overrides the task's; lower runs first.",
    "urgent": "Runs before all jobs of its queue that are not urgent.",
    "delay": "Seconds or a timedelta from now; not together with `run_at`.",
    "run_at": "The earliest instant; a naive datetime is read in the zone that was set, and refused if none was.",
    "depends_on": "Ids, jobs or requests that must succeed first, in the same queue; `set(after=[…])` adds to them.",
    "on_dependency_failure": "`block` waits until the dependency is retried; `fail` fails it and its dependents.",
    "idempotency_key": "One job per key while that job is kept; enqueued again with other contents, it is refused.",
    "unique_key": "At most one unfinished job per key.",
    "on_conflict": "When another unfinished job holds `unique_key`: `refuse`, `skip` or `replace_pending`.",
    "timeout": "Overrides the task's.",
    "expires": "Overrides the task's; seconds, a timedelta, or the instant itself.",
    "retries": "Overrides the task's.",
    "work_item": "The work item it is part of, to list and cancel by.",
}
_OF_A_COMMAND = {
    "params": "Its parameters by name: a JSON type, or `{type = …, default = …, pattern = …, choices = […]}`. "
    "None: any are accepted.",
    "cwd": "The folder it runs in; by default the worker's. No placeholders: a job cannot choose it.",
    "env": "Its environment variables.",
    "pass_env": "The worker's variables that it gets, if they are set. No others are passed.",
    "stdin": "Pass the arguments as JSON on stdin; otherwise stdin is empty.",
    "exit_codes": 'The meaning of exit codes: `"success"`, a failure type, or `{type = …, permanent = true}`.',
    "protocol": "Its channel to the engine: `descriptor` (3), or `stdout` for lines that begin with `::hanbeon `.",
    "result": "The source of its result: `said`, the protocol's `result`, or its whole stdout as `text` or `json`.",
}
_PAGE = """# Jobs: options and states

Durations are seconds; those of a task may be text like `"90s"` or `"1h30m"`. Unknown names and values of the
wrong type are refused.

## Of a task

`@app.task(…)` takes these, and `name` (the function's own by default).

{task}
## Of a command

`app.command(name, argv, …)` takes these and the options of a task except `executor`,
`soft_timeout`, `retry_on` and `no_retry_on`: [how commands run](executors.md#commands).

{command}
{http_section}{http}
## Of a job

`task.call(…).set(…)` takes these, and so does `app.enqueue(request, …)`.

{job}{lifecycle}"""


def render() -> str:
    task_rows = (
        (f"`{field.name}`", _task_default(field), _OF_A_TASK[field.name])
        for field in msgspec.structs.fields(TaskOptions)
    )
    job_rows = (
        (f"`{field.name}`", _job_default(field), _OF_A_JOB[field.name]) for field in msgspec.structs.fields(JobOptions)
    )
    command_rows = (
        (f"`{field.name}`", _command_default(field), _OF_A_COMMAND[field.name])
        for field in msgspec.structs.fields(Command)
        if field.name != "argv"
    )
    head = ("option", "default", "meaning")
    return _PAGE.format(
        task=table(head, task_rows),
        command=table(head, command_rows),
        http_section=SECTION,
        http=table(head, http_rows()),
        job=table(head, job_rows),
        lifecycle=lifecycle.render(),
    )


def _command_default(field: msgspec.structs.FieldInfo) -> str:
    if field.name == "exit_codes":
        return "those of `sysexits.h`"
    if field.name == "pass_env":
        return ", ".join(f"`{name}`" for name in field.default)
    return "none" if field.default is msgspec.NODEFAULT else _value(field.default)


def _task_default(field: msgspec.structs.FieldInfo) -> str:
    return "by the function" if field.name == "executor" else _value(field.default)


def _job_default(field: msgspec.structs.FieldInfo) -> str:
    if field.default is msgspec.NODEFAULT:
        return "a new UUIDv7"
    if field.default is None and hasattr(TaskOptions, field.name):
        return "the task's"
    return _value(field.default)


def _value(default: Any) -> str:
    if default is None or default in ("", ()):
        return "none"
    if isinstance(default, float) and default.is_integer():
        default = int(default)
    return f"`{default}`"
