"""The commands that make: create, change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.completion import task_names
from hanbeon.cli.options import AppName, Arguments, Database, Json
from hanbeon.cli.schedule.options import (
    Cron,
    DstFold,
    DstGap,
    EndsAt,
    Jitter,
    Misfire,
    MisfireLimit,
    Name,
    Overlap,
    RunAt,
    Schedule,
    StartsAt,
    Timezone,
)

if TYPE_CHECKING:
    from hanbeon.surfaces.schedules import schemas


def _fields() -> list[str]:
    from hanbeon.surfaces.schedules.body import FIELDS

    return [field for field in FIELDS if field != "task_id"]


def create(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="The task to run.", autocompletion=task_names, show_default=False)
    ],
    arguments: Arguments = None,
    cron: Cron = None,
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
    paused: Annotated[bool, typer.Option("--paused", help="It does not fire until it is resumed.")] = False,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Make a schedule and print its id.

    With --app or hanbeon.toml the arguments are checked against the task's signature. Without, the task must be one
    that a worker of the database has registered.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.schedule.opening import with_tasks

    fields = _given(
        cron=cron,
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
        async with with_tasks(app, database) as (there, _):
            return await there.schedules.create(task, **fields)

    made = run(work())
    _say(made, made.id, json=json)


def change(
    schedule: Schedule,
    arguments: Arguments = None,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="NAME", help="Run this one.", autocompletion=task_names, show_default=False),
    ] = None,
    cron: Cron = None,
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
            help="Back to what it is by default, like ends_at; may be repeated.",
            autocompletion=_fields,
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option("--if-version", metavar="N", help="Only if nobody has changed it since.", show_default=False),
    ] = None,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Change what is given of a schedule, and nothing else. In force at once, on every worker."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.schedule.opening import find, with_tasks
    from hanbeon.errors import InvalidInput

    changes = {each.replace("-", "_"): None for each in unset or []} | _given(
        task=task,
        cron=cron,
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
        raise InvalidInput("say what to change: arguments, --cron, --timezone, …, or --unset", field="schedule")

    async def work() -> schemas.Schedule:
        async with with_tasks(app, database) as (there, _):
            return await there.schedules.change(await find(there, schedule), expected=version, **changes)

    made = run(work())
    _say(made, _next(made), json=json)


def _given(*, arguments: list[str] | None, **options: Any) -> dict[str, Any]:
    from hanbeon.cli.arguments import parse_arguments

    fields = {name: value for name, value in options.items() if value is not None}
    return fields if not arguments else {**fields, "args": parse_arguments(arguments)}


def _next(schedule: schemas.Schedule) -> str:
    from hanbeon.cli.schedule.showing import title, to_seconds

    if schedule.paused:
        return f"{title(schedule)}: paused"
    when = to_seconds(schedule.next_fire_at)
    return f"{title(schedule)}: fires next at {when}" if when else f"{title(schedule)}: fires no more"


def _say(schedule: schemas.Schedule, line: str, *, json: bool) -> None:
    from hanbeon.cli.output import plain, print_json

    if json:
        print_json(schedule)
    else:
        typer.echo(plain(line))
