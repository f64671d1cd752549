"""`hanbeon schedule`: the group, and its commands except those on fires."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.completion import task_names
from hanbeon.cli.groups import group
from hanbeon.cli.options import AppName, Arguments, Cursor, Database, Json, Limit, TaskFilter, TaskName
from hanbeon.rule import Rule
from hanbeon.surfaces.schedules import fire_commands as fires
from hanbeon.surfaces.schedules.command_options import (
    Cron,
    DstFold,
    DstGap,
    EndsAt,
    Every,
    Jitter,
    Misfire,
    MisfireLimit,
    Name,
    Overlap,
    RunAt,
    Schedule,
    Schedules,
    StartsAt,
    Timezone,
    field_names,
)

if TYPE_CHECKING:
    from hanbeon.surfaces.installation import Installation
    from hanbeon.surfaces.schedules import schemas

    Action = Callable[[Installation, schemas.Schedule], Awaitable[schemas.Schedule]]

_NEXT_FIRES, _LAST_FIRES = 3, 5


def list_(
    database: Database = None,
    task: TaskFilter = None,
    paused: Annotated[
        bool | None,
        typer.Option("--paused/--active", help="Only paused schedules, or only active ones.", show_default=False),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List schedules in the order of their creation.

    Schedules declared by code or a file are marked, with the fields that have been overridden since, and with a note
    if no live worker declares them any more.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_installation, timezone_of
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.schedules.command_lookup import declared_names
    from hanbeon.surfaces.schedules.command_output import SCHEDULE_HEADINGS, schedule_row

    async def work() -> tuple[schemas.SchedulePage, list[str] | None, str]:
        async with open_installation(database) as app:
            page = await app.schedules.list(task=task, paused=paused, cursor=cursor, limit=limit)
            return page, await declared_names(app), timezone_of(app)

    page, live, zone = run(work())
    if json:
        print_json(page)
        return
    rows = [schedule_row(each, zone, live) for each in page.items]
    print_table(SCHEDULE_HEADINGS, rows, empty="no matching schedules")
    print_next_page("--cursor", page.next_cursor)


def show(schedule: Schedule, database: Database = None, json: Json = False) -> None:
    """Show a schedule: its definition, its next fires, and the outcome of its last ones."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_installation
    from hanbeon.cli.output import print_facts, print_json, print_table
    from hanbeon.surfaces.schedules.command_lookup import declared_names, find
    from hanbeon.surfaces.schedules.command_output import (
        FIRE_HEADINGS,
        PREVIEW_HEADINGS,
        fire_row,
        preview_row,
        schedule_facts,
    )

    async def work() -> tuple[schemas.Schedule, list[schemas.PreviewedFire], schemas.FirePage, list[str] | None]:
        async with open_installation(database) as app:
            found = await find(app, schedule)
            upcoming = await app.schedules.preview(found, n=_NEXT_FIRES)
            past = await app.schedules.fires(found, limit=_LAST_FIRES)
            return found, upcoming, past, await declared_names(app)

    found, upcoming, past, live = run(work())
    if json:
        print_json(found)
        return
    print_facts(schedule_facts(found, live))
    if upcoming:
        print()
        print_table(PREVIEW_HEADINGS, [preview_row(each) for each in upcoming])
    if past.items:
        print()
        print_table(FIRE_HEADINGS, [fire_row(each) for each in past.items])


def create(
    task: TaskName,
    arguments: Arguments = None,
    cron: Cron = None,
    every: Every = None,
    run_at: RunAt = None,
    name: Name = None,
    timezone: Timezone = None,
    overlap: Overlap = None,
    misfire: Misfire = None,
    misfire_limit: MisfireLimit = None,
    jitter: Jitter = None,
    starts_at: StartsAt = None,
    ends_at: EndsAt = None,
    dst_gap: DstGap = None,
    dst_fold: DstFold = None,
    paused: Annotated[bool, typer.Option("--paused", help="Create it paused; it fires once it is resumed.")] = False,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Create a schedule and print its id.

    With --app or hanbeon.toml, the arguments are checked against the task's signature. Without, the task must be one
    that a worker of the database has registered.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_with_tasks
    from hanbeon.cli.output import print_json

    fields = _given(
        cron=cron,
        every=every,
        run_at=run_at,
        name=name,
        timezone=timezone,
        overlap=overlap,
        misfire=misfire,
        misfire_limit=misfire_limit,
        jitter=jitter,
        starts_at=starts_at,
        ends_at=ends_at,
        dst_gap=dst_gap,
        dst_fold=dst_fold,
        paused=paused or None,
        arguments=arguments,
    )

    async def work() -> schemas.Schedule:
        async with open_with_tasks(app, database) as (opened, _):
            return await opened.schedules.create(task, **fields)

    created = run(work())
    if json:
        print_json(created)
    else:
        typer.echo(created.id)


def change(
    schedule: Schedule,
    arguments: Arguments = None,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="NAME", help="The task to run.", autocompletion=task_names, show_default=False),
    ] = None,
    cron: Cron = None,
    every: Every = None,
    run_at: RunAt = None,
    name: Name = None,
    timezone: Timezone = None,
    overlap: Overlap = None,
    misfire: Misfire = None,
    misfire_limit: MisfireLimit = None,
    jitter: Jitter = None,
    starts_at: StartsAt = None,
    ends_at: EndsAt = None,
    dst_gap: DstGap = None,
    dst_fold: DstFold = None,
    unset: Annotated[
        list[str] | None,
        typer.Option(
            "--unset",
            metavar="FIELD",
            help="Reset this field to its default, like ends_at; may be repeated.",
            autocompletion=field_names,
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option("--if-version", metavar="N", help="Only if it is still at this version.", show_default=False),
    ] = None,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Change the given fields of a schedule and no others. Takes effect at once, on every worker."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_with_tasks
    from hanbeon.cli.output import print_json
    from hanbeon.errors import InvalidInput
    from hanbeon.quotation import plain
    from hanbeon.surfaces.schedules.command_lookup import find
    from hanbeon.surfaces.schedules.command_output import next_fire_text

    changes = {each.replace("-", "_"): None for each in unset or []} | _given(
        task=task,
        cron=cron,
        every=every,
        run_at=run_at,
        name=name,
        timezone=timezone,
        overlap=overlap,
        misfire=misfire,
        misfire_limit=misfire_limit,
        jitter=jitter,
        starts_at=starts_at,
        ends_at=ends_at,
        dst_gap=dst_gap,
        dst_fold=dst_fold,
        arguments=arguments,
    )
    if not changes:
        raise InvalidInput(Rule("no_schedule_change"), field="schedule")

    async def work() -> schemas.Schedule:
        async with open_with_tasks(app, database) as (opened, _):
            return await opened.schedules.change(await find(opened, schedule), expected=version, **changes)

    changed = run(work())
    if json:
        print_json(changed)
    else:
        typer.echo(plain(next_fire_text(changed)))


def pause(schedules: Schedules, database: Database = None, json: Json = False) -> None:
    """Stop schedules from firing until they are resumed. Fires that fall due meanwhile are not caught up."""

    async def action(app: Installation, schedule: schemas.Schedule) -> schemas.Schedule:
        return await app.schedules.pause(schedule)

    _for_each(database, schedules, action, "is paused", json=json)


def resume(schedules: Schedules, database: Database = None, json: Json = False) -> None:
    """Resume paused schedules, from now on."""

    async def action(app: Installation, schedule: schemas.Schedule) -> schemas.Schedule:
        return await app.schedules.resume(schedule)

    _for_each(database, schedules, action, "fires again", json=json)


def delete(schedules: Schedules, database: Database = None, json: Json = False) -> None:
    """Delete schedules. Their executions and fire history are kept until they are pruned.

    A schedule declared by code or a file comes back when its declaration changes.
    """

    async def action(app: Installation, schedule: schemas.Schedule) -> schemas.Schedule:
        await app.schedules.delete(schedule)
        return schedule

    _for_each(database, schedules, action, "is deleted", json=json)


def _given(*, arguments: list[str] | None, **options: Any) -> dict[str, Any]:
    from hanbeon.cli.arguments import parse_arguments

    fields = {name: value for name, value in options.items() if value is not None}
    return fields if not arguments else {**fields, "args": parse_arguments(arguments)}


def _for_each(database: str | None, typed: list[str], action: Action, outcome: str, *, json: bool) -> None:
    """Apply an action to all of these schedules or, if one does not exist, to none."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_installation
    from hanbeon.cli.output import print_json
    from hanbeon.quotation import plain
    from hanbeon.surfaces.schedules.command_lookup import find
    from hanbeon.surfaces.schedules.command_output import title

    async def work() -> list[schemas.Schedule]:
        async with open_installation(database) as app:
            found = {each.id: each for each in [await find(app, name) for name in typed]}
            return [await action(app, each) for each in found.values()]

    changed = run(work())
    if json:
        print_json({"schedules": changed})
        return
    for each in changed:
        typer.echo(f"{plain(title(each))} {outcome}")


schedule = group("Create, change, pause, preview and inspect schedules.")

# In the order of the help.
schedule.command("list")(list_)
schedule.command()(show)
schedule.command()(create)
schedule.command()(change)
schedule.command()(pause)
schedule.command()(resume)
schedule.command()(delete)
schedule.command()(fires.preview)
schedule.command()(fires.fires)
