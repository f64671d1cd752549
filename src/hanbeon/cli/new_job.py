"""Makes a job from a command line: checked by the App, or of a task that some worker has registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from hanbeon.app import App
from hanbeon.errors import ArgumentsDoNotFit, InvalidInput, UnknownTask
from hanbeon.job import Job
from hanbeon.tasks.options import did_you_mean
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.signature import to_json_text
from hanbeon.tasks.task import Task, TaskOptions


async def enqueue_checked(app: App, task: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> Job[Any]:
    """A job of a task of this App: its arguments fit its signature, its options are the task's where none is given."""
    try:
        return await app.enqueue(task, args, **options)
    except ArgumentsDoNotFit as error:
        hint = "; name=VALUE is text, name:=VALUE is JSON" if "got `str`" in str(error) else ""
        raise ArgumentsDoNotFit(f"{error}{hint}") from error


async def warn_without_worker(app: App, task: str) -> None:
    """Whoever makes a job should not wait for it in vain."""
    if not any(each.alive and task in each.tasks for each in await app.instances()):
        typer.echo(f"no live worker has registered {task!r}; the job waits for one: hanbeon worker", err=True)


async def enqueue_unchecked(app: App, task: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> Job[Any]:
    """A job of a task that only a worker knows: by name, with the options that are given and no others.

    What its own options are cannot be known here. Where a default could do harm (too many tries, a queue that nobody
    looks after), the caller must say it.
    """
    missing = [f"--{name}" for name in ("queue", "retries") if options.get(name) is None]
    if missing:
        raise InvalidInput(
            f"without --app nothing is known of the task's own options; say {' and '.join(missing)}, or --app",
            field="task",
        )
    instances = await app.instances()
    known = {name for each in instances for name in each.tasks}
    if task not in known:
        hint = did_you_mean(task, known) or "; start a worker that has it, or say --app"
        raise UnknownTask(f"no worker of this database has registered a task {task!r}{hint}", field="task")
    stranger: Task[[], None] = Task(task, _elsewhere, TaskOptions())
    request = JobRequest(task=stranger, args=to_json_text(args, "an argument", "args")).set(**options)
    new = request.to_new_job(app.settings.zone)
    new.validate(app.settings.max_payload_bytes)
    (made,) = await app.store.enqueue([new])
    return Job(app, made.id, created=made.created)


def _elsewhere() -> None:
    """Stands for a function that only workers have."""
