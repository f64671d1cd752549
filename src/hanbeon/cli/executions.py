"""`hanbeon executions`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.completion import schedule_names, task_names
from hanbeon.cli.options import Database, Json
from hanbeon.cli.schedule.options import Cursor, Limit

if TYPE_CHECKING:
    from hanbeon.surfaces.schedules import schemas


def _statuses() -> list[str]:
    from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus

    return list(ExecutionStatus)


def _types() -> list[str]:
    from hanbeon.domain.schedules.history import ExecutionType

    return list(ExecutionType)


def executions(
    database: Database = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only of this task.", autocompletion=task_names, show_default=False),
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS",
            help="Only PENDING, RUNNING, SUCCESS or FAILED ones; may be repeated.",
            autocompletion=_statuses,
            show_default=False,
        ),
    ] = None,
    type: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="Only those of a SCHEDULE, or MANUAL ones.",
            autocompletion=_types,
            show_default=False,
        ),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEDULE",
            help="Only of this one, by name or id.",
            autocompletion=schedule_names,
            show_default=False,
        ),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List what schedules and people have run, the newest first.

    An execution is a job: `hanbeon job`, `hanbeon explain`, `hanbeon cancel` and `hanbeon retry` take its id.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.cli.schedule.opening import find
    from hanbeon.cli.schedule.showing import EXECUTION_HEADINGS, execution_row

    async def work() -> schemas.ExecutionPage:
        async with open_app(database) as app:
            return await app.schedules.executions(
                task=task,
                status=status,
                type=type,
                schedule=None if schedule is None else await find(app, schedule),
                cursor=cursor,
                limit=limit,
            )

    page = run(work())
    if json:
        print_json(page)
        return
    rows = [execution_row(each) for each in page.items]
    print_table(EXECUTION_HEADINGS, rows, right=("retries",), empty="there is no such execution")
    if page.next_cursor is not None:
        typer.echo(f"there are more: add --cursor {page.next_cursor}", err=True)
