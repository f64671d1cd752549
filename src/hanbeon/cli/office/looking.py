"""The commands that only look: list, show, config show, stats, jobs, events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.office.options import Cursor, Item, Limit, Office, Role, Statuses
from hanbeon.cli.options import Database, Json, JsonLines

if TYPE_CHECKING:
    from hanbeon.surfaces.offices import schemas


def list_(database: Database = None, cursor: Cursor = None, limit: Limit = 100, json: Json = False) -> None:
    """List offices, a page at a time."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import offices_of
    from hanbeon.cli.office.showing import words
    from hanbeon.cli.output import print_json, print_table

    async def work() -> schemas.OfficePage:
        async with offices_of(database) as offices:
            return await offices.list(cursor=cursor, limit=limit)

    page = run(work())
    if json:
        print_json(page)
        return
    rows = [(each.id, each.created_at, words(each.sessions), each.name) for each in page.items]
    print_table(("id", "created", "sessions", "name"), rows, empty="there are no offices")
    _say_more(page.next_cursor)


def show(office: Office, database: Database = None, json: Json = False) -> None:
    """Show an office: its config, its sessions, whom it tells, and how many jobs are where."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.office.showing import config_facts, stats_facts, words
    from hanbeon.cli.output import print_facts, print_json

    async def work() -> tuple[schemas.Office, schemas.JobQueueStats]:
        async with offices_of(database) as offices:
            found = await find(offices, office)
            return found, await offices.stats(found.id)

    found, stats = run(work())
    if json:
        print_json(found)
        return
    print_facts(
        [
            ("name", found.name),
            ("id", found.id),
            ("version", str(found.version)),
            ("created_at", found.created_at),
            ("changed_at", found.changed_at),
            ("sessions", words(found.sessions)),
            ("notifications", f"{len(found.notifications)}" if found.notifications else None),
            ("webhooks", ", ".join(f"{hook.url} ({hook.state})" for hook in found.webhooks)),
            *config_facts(found.config),
            *stats_facts(stats),
        ]
    )


def show_config(office: Office, database: Database = None, json: Json = False) -> None:
    """Show how an office runs its jobs. Times are milliseconds."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.office.showing import config_facts
    from hanbeon.cli.output import print_facts, print_json

    async def work() -> schemas.Office:
        async with offices_of(database) as offices:
            return await find(offices, office)

    config = run(work()).config
    if json:
        print_json(config)
    else:
        print_facts(config_facts(config))


def stats(office: Office, database: Database = None, json: Json = False) -> None:
    """Show how many jobs of an office are where, exactly, and how long a done one took on average, in milliseconds."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.office.showing import stats_facts
    from hanbeon.cli.output import print_facts, print_json

    async def work() -> schemas.JobQueueStats:
        async with offices_of(database) as offices:
            return await offices.stats((await find(offices, office)).id)

    found = run(work())
    if json:
        print_json(found)
    else:
        print_facts(stats_facts(found))


def jobs(
    office: Office,
    database: Database = None,
    status: Statuses = None,
    role: Role = None,
    task_id: Item = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List the jobs of an office in the order in which they were made."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.office.showing import job_row
    from hanbeon.cli.output import print_json, print_table

    async def work() -> schemas.JobPage:
        async with offices_of(database) as offices:
            found = await find(offices, office)
            return await offices.jobs(
                found.id, status=status or None, role=role, task_id=task_id, cursor=cursor, limit=limit
            )

    page = run(work())
    if json:
        print_json(page)
        return
    headings = ("id", "status", "role", "task_id", "retries", "created", "title")
    print_table(headings, [job_row(each) for each in page.items], right=("retries",), empty="there is no such job")
    _say_more(page.next_cursor)


def events(
    office: Office,
    database: Database = None,
    after: Annotated[int, typer.Option(metavar="ID", help="Everything behind the event with this id.", min=0)] = 0,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what happens, until Ctrl-C.")] = False,
    json: JsonLines = False,
) -> None:
    """Print what happened in an office, in the order of commits."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.office.showing import event_line
    from hanbeon.cli.output import console, print_json_line

    out = console()

    def tell(event: schemas.SchedulerEvent) -> None:
        if json:
            print_json_line(event)
        else:
            out.print(event_line(event))

    async def work() -> None:
        async with offices_of(database) as offices:
            found, at = await find(offices, office), after
            if follow:
                async for event in offices.follow(found.id, at):
                    tell(event)
            while (page := await offices.events(found.id, at)).items or page.more:
                at = page.after
                for event in page.items:
                    tell(event)

    run(work())


def _say_more(cursor: str | None) -> None:
    if cursor is not None:
        typer.echo(f"there are more: add --cursor {cursor}", err=True)
