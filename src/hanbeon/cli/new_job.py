"""A job created from the command line: checked by the App or of a task of a worker, and waited for."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

import typer

from hanbeon.app import App
from hanbeon.cli.command_words import command_here
from hanbeon.cli.installation import database_of
from hanbeon.cli.job_follower import Show, bar, follow, raise_unless_succeeded
from hanbeon.cli.output import brief, console, json_text, now_beside, print_json, seconds_between
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.lifecycle import State
from hanbeon.errors import ArgumentsDoNotFit, HanbeonError, InvalidInput, UnknownTask
from hanbeon.job import Job
from hanbeon.quotation import plain, quoted, suggested
from hanbeon.rule import Rule
from hanbeon.surfaces.engine.schemas import EngineJob
from hanbeon.surfaces.installation import Installation
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import Task, TaskOptions

_OF_SERVER = {
    **{name: name for name in ("queue", "role", "priority", "urgent", "delay", "expires")},
    "retries": "max_retries",
    "timeout": "timeout_ms",
}
"""The options that a server takes, and its fields for them."""


async def enqueue(
    installation: Installation, task: str, args: Mapping[str, Any], options: Mapping[str, Any], *, has_tasks: bool
) -> tuple[str, bool]:
    """Enqueue a job; returns its id, and False if it exists already."""
    if isinstance(installation, App):
        options = {name: _placed(value, installation.settings.zone) for name, value in options.items()}
        make = _enqueue_checked if has_tasks else _enqueue_unchecked
        job = await make(installation, task, args, options)
        return job.id, job.created
    fields = {_OF_SERVER[name]: value for name, value in options.items() if name in _OF_SERVER}
    for name in options.keys() - _OF_SERVER.keys():
        database_of(installation, name.replace("_", "-"), "a server takes no such option")
    if "timeout_ms" in fields:
        fields["timeout_ms"] = round(fields["timeout_ms"] * 1_000)
    if isinstance(fields.get("expires"), dt.datetime):
        fields["expires"] = fields["expires"].isoformat()
    return (await installation.engine.enqueue(task=task, args=dict(args), **fields)).id, True


def _placed(value: Any, zone: ZoneInfo) -> Any:
    """Return an option; text of a moment on a command line is in the zone of the settings."""
    return value.replace(tzinfo=zone) if isinstance(value, dt.datetime) and value.tzinfo is None else value


async def _enqueue_checked(app: App, task: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> Job[Any]:
    """Enqueue a job of a task of this App: arguments are checked, and the task's options apply where none is given."""
    try:
        return await app.enqueue(task, args, **options)
    except ArgumentsDoNotFit as error:
        if "got `str`" not in str(error):
            raise
        raise ArgumentsDoNotFit(Rule("arguments_are_text", error=error)) from error


async def warn_without_worker(installation: Installation, task: str) -> bool:
    """Warn if no live worker has registered the task, and return whether."""
    if any(each.alive and task in each.tasks for each in (await installation.engine.instances()).items):
        return False
    typer.echo(f"no live worker has registered {quoted(task)}; start one to run the job: {worker_command()}", err=True)
    return True


def worker_command() -> str:
    """Return the command that starts a worker where this command works."""
    return command_here("worker", server=False)


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
    new = request.to_new_job(None)
    new.validate(app.settings.max_payload_bytes)
    (made,) = await app.store.enqueue([new])
    return Job(app, made.id, created=made.created)


def _elsewhere() -> None:
    """Placeholder for a function that only workers have."""


_FIRST_WORD_SECONDS = 5.0


Shape = Callable[[EngineJob], Awaitable[Any]]


@contextlib.contextmanager
def hint_on_interrupt(job_id: str) -> Iterator[None]:
    """Print, on Ctrl-C, that this does not stop the job."""
    try:
        yield
    except asyncio.CancelledError:
        typer.echo(f"job {job_id} is not stopped by this; `{command_here(f'cancel {job_id}')}` cancels it", err=True)
        raise


async def wait_for(
    installation: Installation, job_id: str, *, log: bool, json: bool, shape: Shape | None = None
) -> None:
    """Wait until a job has ended and print its result or, as JSON, the job or what `shape` returns.

    `log` prints its log. Raises unless the job succeeded.
    """
    job = await _end_of(installation, job_id, log=log)
    if json:
        print_json(job if shape is None else await shape(job))
    raise_unless_succeeded(job)
    if not json:
        typer.echo(json_text(job.result) or "null")


async def _end_of(installation: Installation, job_id: str, *, log: bool) -> EngineJob:
    warning = asyncio.get_running_loop().create_task(_say_why(installation, job_id))
    try:
        with bar(console(stderr=True) if log else None) as screen:
            return await follow(installation, job_id, screen._replace(show=_with_failures(screen.show)))
    finally:
        warning.cancel()


def _with_failures(show: Show) -> Show:
    """Print each failed attempt that is tried again: it may be minutes until the next one."""
    last = 0

    def show_failure(job: EngineJob) -> None:
        nonlocal last
        if job.state is State.PENDING and job.error_message is not None and job.attempt > last:
            last = job.attempt
            left = brief(max(0.0, -seconds_between(job.run_at, now_beside(job.run_at))))
            message = f"attempt {last} failed: {plain(job.error_message)}; it is tried again in {left}"
            typer.echo(f"{message}; `{command_here(f'job {job.id} --log')}` shows its log", err=True)
        show(job)

    return show_failure


async def _say_why(installation: Installation, job_id: str) -> None:
    """Say again and again, ever more seldom, why the job does not run. Not at once: a worker may just be starting."""
    pause, waited = _FIRST_WORD_SECONDS, 0.0
    warned = False
    while True:
        await asyncio.sleep(pause)
        waited += pause
        pause = waited
        with contextlib.suppress(HanbeonError):
            job = await installation.engine.job(job_id)
            if job.state is State.READY and not warned and await warn_without_worker(installation, job.task):
                warned = True
            elif job.state in (State.READY, State.PENDING):
                reasons = (await installation.engine.explain(job_id)).reasons
                typer.echo(
                    f"still waiting after {brief(waited)}: {' '.join(plain(each['text']) for each in reasons)}",
                    err=True,
                )
