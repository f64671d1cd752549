"""`hanbeon enqueue`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.completion import queue_names
from hanbeon.cli.options import AppName, Arguments, Database, Json, Log, TaskName, Wait
from hanbeon.domain.job import OnConflict, OnDependencyFailure
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping


def enqueue(
    task: TaskName,
    arguments: Arguments = None,
    app: AppName = None,
    database: Database = None,
    wait: Wait = False,
    log: Log = False,
    queue: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The job's queue.", autocompletion=queue_names, show_default=False),
    ] = None,
    retries: Annotated[
        int | None, typer.Option(metavar="N", help="Retry a failed attempt this many times.", show_default=False)
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Stop an attempt that takes longer than this.", show_default=False),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN|TIME",
            help="Fail it unless it has ended so long after now, or by then (ISO-8601).",
            show_default=False,
        ),
    ] = None,
    delay: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Wait this long before running.", show_default=False)
    ] = None,
    run_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Do not run before this time, in ISO-8601.", show_default=False)
    ] = None,
    after: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Run only after this job has succeeded; may be repeated.", show_default=False),
    ] = None,
    on_dependency_failure: Annotated[
        OnDependencyFailure | None,
        typer.Option(metavar="CHOICE", help="When a dependency fails: block or fail.", show_default=False),
    ] = None,
    priority: Annotated[
        int | None, typer.Option(metavar="N", help="The job's priority; lower runs first.", show_default=False)
    ] = None,
    urgent: Annotated[bool, typer.Option("--urgent", help="Run before all jobs that are not urgent.")] = False,
    role: Annotated[str | None, typer.Option(metavar="NAME", help="The job's role.", show_default=False)] = None,
    concurrency_key: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The job's concurrency key.", show_default=False)
    ] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Create at most one job with this key.", show_default=False)
    ] = None,
    unique_key: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Allow at most one unfinished job with this key.", show_default=False),
    ] = None,
    on_conflict: Annotated[
        OnConflict | None,
        typer.Option(
            metavar="CHOICE",
            help="When another job holds the unique key: refuse, skip or replace_pending.",
            show_default=False,
        ),
    ] = None,
    work_item: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The work item that the job is part of.", show_default=False)
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="UUID", help="The job's id; by default a new one.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Enqueue a job and print its id.

    With --app or hanbeon.toml, the arguments are checked against the task's signature, and the task's options apply
    where none is given. Without, the task must be one that a worker of the database has registered; its options are
    unknown then, so --queue and --retries are required. With --wait, the exit code is 1 if the job does not succeed.
    """
    from hanbeon.cli.arguments import parse_arguments
    from hanbeon.cli.event_loop import run

    given = {
        "queue": queue,
        "retries": retries,
        "timeout": _seconds(timeout, "timeout"),
        "expires": _expiry(expires),
        "delay": _seconds(delay, "delay"),
        "run_at": _instant(run_at),
        "after": after or None,
        "on_dependency_failure": on_dependency_failure,
        "priority": priority,
        "urgent": urgent or None,
        "role": role,
        "concurrency_key": concurrency_key,
        "idempotency_key": idempotency_key,
        "unique_key": unique_key,
        "on_conflict": on_conflict,
        "work_item": work_item,
        "id": id,
    }
    options = {name: value for name, value in given.items() if value is not None}
    run(_enqueue(app, database, task, parse_arguments(arguments or []), options, wait=wait, log=log, json=json))


def _seconds(text: str | None, field: str) -> float | None:
    from hanbeon.clock import seconds_of

    return None if text is None else seconds_of(text, field)


def _expiry(text: str | None) -> float | dt.datetime | None:
    """Return a span or an instant: only the latter has a date."""
    return _instant(text, "expires") if text is not None and "-" in text else _seconds(text, "expires")


def _instant(text: str | None, field: str = "run_at") -> dt.datetime | None:
    import datetime as dt

    from hanbeon.errors import InvalidInput
    from hanbeon.surfaces.moment import check_offset

    if text is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(Rule("must_be", what=Rule("local_time"), got=quoted(text)), field=field) from None
    check_offset(moment, text, field)
    return moment


async def _enqueue(
    app_name: str | None,
    database: str | None,
    task: str,
    args: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    wait: bool,
    log: bool,
    json: bool,
) -> None:
    from hanbeon.cli.installation import open_with_tasks
    from hanbeon.cli.new_job import enqueue, hint_on_interrupt, wait_for, warn_without_worker
    from hanbeon.cli.output import print_json

    async with open_with_tasks(app_name, database) as (installation, has_tasks):
        job_id, created = await enqueue(installation, task, args, options, has_tasks=has_tasks)
        if not created:
            typer.echo("the job exists already; no other was created", err=True)
        with hint_on_interrupt(job_id):
            if not has_tasks:
                await warn_without_worker(installation, task)
            if wait:
                await wait_for(installation, job_id, log=log, json=json)
            elif json:
                import msgspec

                made = await installation.engine.job(job_id)
                print_json({**msgspec.structs.asdict(made), "created": created})
            else:
                typer.echo(job_id)
