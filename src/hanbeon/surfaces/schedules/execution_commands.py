"""`hanbeon executions`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.completion import task_names
from hanbeon.cli.options import Cursor, Database, Json, Limit
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
