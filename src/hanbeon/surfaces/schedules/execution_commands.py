"""`hanbeon run` and `hanbeon executions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.completion import task_names
from hanbeon.cli.options import AppName, Arguments, Cursor, Database, Json, Limit, Log, TaskName, Wait
from hanbeon.surfaces.schedules.command_options import schedule_names

if TYPE_CHECKING:
    from hanbeon.surfaces.schedules import schemas


def _statuses() -> list[str]:
    from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus

    return list(ExecutionStatus)


def _types() -> list[str]:
    from hanbeon.domain.executions import ExecutionType

    return list(ExecutionType)


def executions(
    database: Database = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only executions of this task.", autocompletion=task_names, show_default=False
        ),
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS",
            help="Only executions with this status: PENDING, RUNNING, SUCCESS or FAILED; may be repeated.",
            autocompletion=_statuses,
            show_default=False,
        ),
    ] = None,
    type: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="Only executions of this type: SCHEDULE or MANUAL.",
            autocompletion=_types,
            show_default=False,
        ),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEDULE",
            help="Only executions of this schedule, by name or id.",
            autocompletion=schedule_names,
            show_default=False,
        ),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List executions of schedules and manual runs, newest first.

    An execution is a job: `hanbeon job`, `hanbeon explain`, `hanbeon cancel` and `hanbeon retry` take its id.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_installation
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.schedules.command_lookup import find
    from hanbeon.surfaces.schedules.command_output import EXECUTION_HEADINGS, execution_row

    async def work() -> schemas.ExecutionPage:
        async with open_installation(database) as installation:
            return await installation.schedules.executions(
                task=task,
                status=status,
                type=type,
                schedule=None if schedule is None else await find(installation, schedule),
                cursor=cursor,
                limit=limit,
            )

    page = run(work())
    if json:
        print_json(page)
        return
    rows = [execution_row(each) for each in page.items]
    print_table(EXECUTION_HEADINGS, rows, right=("retries",), empty="no matching executions")
    print_next_page("--cursor", page.next_cursor)


def run(
    task: TaskName,
    arguments: Arguments = None,
    app: AppName = None,
    database: Database = None,
    wait: Wait = False,
    log: Log = False,
    json: Json = False,
) -> None:
    """Run a task once, now, and print the execution's id.

    Fails with exit code 4 while another execution of the task is unfinished, scheduled or manual; `enqueue` creates
    jobs that may run side by side. The task's queue, timeout and retries apply. With --wait, the exit code is 1 if the
    execution does not succeed.
    """
    from hanbeon.cli.arguments import parse_arguments
    from hanbeon.cli.event_loop import run as run_coroutine

    run_coroutine(_run(app, database, task, parse_arguments(arguments or []), wait=wait, log=log, json=json))


async def _run(
    target: str | None, database: str | None, task: str, args: dict[str, Any], *, wait: bool, log: bool, json: bool
) -> None:
    from hanbeon.cli.installation import open_with_tasks
    from hanbeon.cli.new_job import hint_on_interrupt, wait_for, warn_without_worker
    from hanbeon.cli.output import print_json

    async with open_with_tasks(target, database) as (installation, has_tasks):
        created = await installation.schedules.run(task, args)

        async def shape(_: object) -> Any:
            return await installation.schedules.execution(created.execution_id)

        with hint_on_interrupt(created.execution_id):
            if not has_tasks:
                await warn_without_worker(installation, task)
            if wait:
                await wait_for(installation, created.execution_id, log=log, json=json, shape=shape)
            elif json:
                print_json(created)
            else:
                typer.echo(created.execution_id)
