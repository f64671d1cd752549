"""The commands that move: pause, resume, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import typer

from hanbeon.cli.options import Database, Json
from hanbeon.cli.schedule.options import Schedules

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.surfaces.schedules import schemas

    Move = Callable[[App, schemas.Schedule], Awaitable[schemas.Schedule]]


def pause(schedules: Schedules, database: Database = None, json: Json = False) -> None:
    """Fire no more until it is resumed. What falls due meanwhile is not caught up with."""

    async def move(app: App, schedule: schemas.Schedule) -> schemas.Schedule:
        return await app.schedules.pause(schedule)

    _each(database, schedules, move, "is paused", json=json)


def resume(schedules: Schedules, database: Database = None, json: Json = False) -> None:
    """Let a paused schedule go on, from now."""

    async def move(app: App, schedule: schemas.Schedule) -> schemas.Schedule:
        return await app.schedules.resume(schedule)

    _each(database, schedules, move, "fires again", json=json)


def delete(schedules: Schedules, database: Database = None, json: Json = False) -> None:
    """Remove a schedule. Its executions and its history stay until they are pruned.

    One that code or a file declares comes back when it is declared otherwise.
    """

    async def move(app: App, schedule: schemas.Schedule) -> schemas.Schedule:
        await app.schedules.delete(schedule)
        return schedule

    _each(database, schedules, move, "is deleted", json=json)


def _each(database: str | None, typed: list[str], move: Move, words: str, *, json: bool) -> None:
    """All of these schedules or, if one is not there, none."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import plain, print_json
    from hanbeon.cli.schedule.opening import find
    from hanbeon.cli.schedule.showing import title

    async def work() -> list[schemas.Schedule]:
        async with open_app(database) as app:
            found = {each.id: each for each in [await find(app, name) for name in typed]}
            return [await move(app, each) for each in found.values()]

    moved = run(work())
    if json:
        print_json({"schedules": moved})
        return
    for each in moved:
        typer.echo(f"{plain(title(each))} {words}")
