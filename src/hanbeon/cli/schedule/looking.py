"""The commands that look: list, show, fires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.options import Database, Json, TaskFilter
from hanbeon.cli.schedule.options import Cursor, Limit, Outcome, Schedule

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.surfaces.schedules import schemas

_NEXT, _LAST = 3, 5


def list_(
    database: Database = None,
    task: TaskFilter = None,
    paused: Annotated[
        bool | None, typer.Option("--paused/--active", help="Only those that are paused, or not.", show_default=False)
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List schedules in the order in which they were made.

    Those that code or a file declares are marked, with the fields that were changed since, and if no live worker
    declares them any more.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.cli.schedule.showing import SCHEDULE_HEADINGS, schedule_row

    async def work() -> tuple[schemas.SchedulePage, list[str] | None, str]:
        async with open_app(database) as app:
            page = await app.schedules.list(task=task, paused=paused, cursor=cursor, limit=limit)
            return page, await _declared(app), app.settings.timezone

    page, live, zone = run(work())
    if json:
        print_json(page)
        return
    rows = [schedule_row(each, zone, live) for each in page.items]
    print_table(SCHEDULE_HEADINGS, rows, empty="there is no such schedule")
    if page.next_cursor is not None:
        typer.echo(f"there are more: add --cursor {page.next_cursor}", err=True)


def show(schedule: Schedule, database: Database = None, json: Json = False) -> None:
    """Show everything about a schedule: what it says, its next fires, and what became of the last ones."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import print_facts, print_json, print_table
    from hanbeon.cli.schedule.opening import find
    from hanbeon.cli.schedule.previewing import print_fires
    from hanbeon.cli.schedule.showing import FIRE_HEADINGS, fire_row, schedule_facts

    async def work() -> tuple[schemas.Schedule, list[schemas.PreviewedFire], schemas.FirePage, list[str] | None]:
        async with open_app(database) as app:
            found = await find(app, schedule)
            coming = await app.schedules.preview(found, n=_NEXT)
            return found, coming, await app.schedules.fires(found, limit=_LAST), await _declared(app)

    found, coming, past, live = run(work())
    if json:
        print_json(found)
        return
    print_facts(schedule_facts(found, live))
    if coming:
        print()
        print_fires(coming)
    if past.items:
        print()
        print_table(FIRE_HEADINGS, [fire_row(each) for each in past.items])


def fires(
    schedule: Schedule,
    database: Database = None,
    outcome: Outcome = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """Show what became of a schedule's fires, the newest first: created, skipped and why, missed, coalesced."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.cli.schedule.opening import find
    from hanbeon.cli.schedule.showing import FIRE_HEADINGS, fire_row

    async def work() -> schemas.FirePage:
        async with open_app(database) as app:
            found = await find(app, schedule)
            return await app.schedules.fires(found, outcome=outcome, cursor=cursor, limit=limit)

    page = run(work())
    if json:
        print_json(page)
        return
    print_table(FIRE_HEADINGS, [fire_row(each) for each in page.items], empty="there is no such fire")
    if page.next_cursor is not None:
        typer.echo(f"there are more: add --cursor {page.next_cursor}", err=True)


async def _declared(app: App) -> list[str] | None:
    """The names of the schedules that live workers declare; None if there is no live worker to ask."""
    alive = [each for each in await app.instances() if each.alive]
    return [name for each in alive for name in each.schedules] if alive else None
