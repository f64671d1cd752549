"""The same move for each of several jobs: one that cannot be moved does not keep the others from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import typer

from hanbeon.app import App
from hanbeon.cli import exits
from hanbeon.cli.event_loop import run
from hanbeon.cli.ids import check_ids
from hanbeon.cli.open_app import open_app
from hanbeon.cli.output import print_json
from hanbeon.domain.lifecycle import State
from hanbeon.errors import Conflict, HanbeonError, NotFound

Move = Callable[[App, str], Awaitable[State]]


class Moved(NamedTuple):
    """What became of one job: its state now, or why it was refused."""

    id: str
    state: State | None
    error: HanbeonError | None = None


def move_each(database: str | None, ids: Sequence[str], move: Move, *, json: bool) -> None:
    """Move them, say what became of each, and exit with the code of the first refusal."""
    check_ids(ids)
    moved = run(_move_each(database, list(dict.fromkeys(ids)), move))
    if json:
        print_json(
            {
                "jobs": [{"id": each.id, "state": each.state} for each in moved if each.error is None],
                "errors": [
                    {"id": each.id, "code": each.error.code, "message": str(each.error)} for each in moved if each.error
                ],
            }
        )
    for each in moved:
        if each.error is not None:
            typer.echo(f"error: {each.error}", err=True)
        elif not json:
            typer.echo(f"{each.id} {each.state}")
    refused = [each.error for each in moved if each.error is not None]
    if refused:
        raise typer.Exit(exits.EXIT_CODES[refused[0].kind])


async def _move_each(database: str | None, ids: Sequence[str], move: Move) -> list[Moved]:
    moved = []
    async with open_app(database) as app:
        for job_id in ids:
            try:
                moved.append(Moved(job_id, await move(app, job_id)))
            except (NotFound, Conflict) as error:
                moved.append(Moved(job_id, None, error))
    return moved
