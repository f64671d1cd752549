"""Creates a job from the command line: checked by the App, or of a task that a worker has registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from hanbeon.app import App
from hanbeon.cli.installation import database_of
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import ArgumentsDoNotFit, InvalidInput, UnknownTask
from hanbeon.job import Job
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.surfaces.installation import Installation
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import Task, TaskOptions

_OF_SERVER = {
    **{name: name for name in ("queue", "role", "priority", "urgent", "delay")},
    "retries": "max_retries",
    "timeout": "timeout_ms",
}
"""The options that a server takes, and its fields for them."""


async def enqueue(
    installation: Installation, task: str, args: Mapping[str, Any], options: Mapping[str, Any], *, has_tasks: bool
) -> tuple[str, bool]:
    """Enqueue a job; returns its id, and False if it exists already."""
    if isinstance(installation, App):
        make = _enqueue_checked if has_tasks else _enqueue_unchecked
        job = await make(installation, task, args, options)
        return job.id, job.created
    fields = {_OF_SERVER[name]: value for name, value in options.items() if name in _OF_SERVER}
    for name in options.keys() - _OF_SERVER.keys():
        database_of(installation, name.replace("_", "-"), "a server takes no such option")
    if "timeout_ms" in fields:
        fields["timeout_ms"] = round(fields["timeout_ms"] * 1_000)
    return (await installation.engine.enqueue(task=task, args=dict(args), **fields)).id, True


async def _enqueue_checked(app: App, task: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> Job[Any]:
    """Enqueue a job of a task of this App: arguments are checked, and the task's options apply where none is given."""
    try:
        return await app.enqueue(task, args, **options)
    except ArgumentsDoNotFit as error:
        if "got `str`" not in str(error):
            raise
        raise ArgumentsDoNotFit(Rule("arguments_are_text", error=error)) from error


async def warn_without_worker(installation: Installation, task: str) -> None:
    """Warn if no live worker has registered the task."""
    if not any(each.alive and task in each.tasks for each in (await installation.engine.instances()).items):
        typer.echo(f"no live worker has registered {quoted(task)}; start one to run the job: hanbeon worker", err=True)


async def _enqueue_unchecked(app: App, task: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> Job[Any]:
    """Enqueue a job of a task that only a worker knows, by name and with only the given options.

    The task's own options are unknown here. Where a default could do harm (too many retries, a queue that no worker
    serves), the caller must choose.
    """
    missing = [f"--{name}" for name in ("queue", "retries") if options.get(name) is None]
    if missing:
        raise InvalidInput(
            Rule("options_unknown", missing=missing),
            field="task",
        )
    instances = await app.instances()
    known = {name for each in instances for name in each.tasks}
    if task not in known:
        rule = Rule("no_worker_has_task", task=quoted(task), nearest=suggested(task, known))
        raise UnknownTask(rule, field="task")
    placeholder: Task[[], None] = Task(task, _elsewhere, TaskOptions())
    request = JobRequest(task=placeholder, args=to_json_text(args, "an argument", "args")).set(**options)
    new = request.to_new_job(app.settings.zone)
    new.validate(app.settings.max_payload_bytes)
    (made,) = await app.store.enqueue([new])
    return Job(app, made.id, created=made.created)


def _elsewhere() -> None:
    """Placeholder for a function that only workers have."""
