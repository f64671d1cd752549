"""`hanbeon deadletter`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.groups import group
from hanbeon.cli.options import Cursor, Database, Json, Limit

if TYPE_CHECKING:
    from hanbeon.surfaces.engine.schemas import DeadLetter

deadletter = group("List, show, republish and drop messages of stream workers that could not be used.")
LetterId = Annotated[str, typer.Argument(metavar="ID", help="The dead letter's id.", show_default=False)]


@deadletter.command("list")
def list_(database: Database = None, cursor: Cursor = None, limit: Limit = 100, json: Json = False) -> None:
    """List dead letters by stream, the newest first, with their reasons."""
    from hanbeon.cli.installation import ask
    from hanbeon.cli.output import print_json, print_table

    found = ask(database, lambda app: app.engine.deadletters(cursor=cursor, limit=limit))
    if json:
        print_json(found)
        return
    print_table(
        ("id", "stream", "at", "reason"),
        [(each.id, each.stream, each.at, each.reason) for each in found.items],
        empty="no dead letters",
    )
    if found.next_cursor is not None:
        typer.echo(f"more: --cursor {found.next_cursor}", err=True)


@deadletter.command()
def show(id: LetterId, database: Database = None, json: Json = False) -> None:
    """Show a dead letter with its payload."""
    from hanbeon.cli.installation import ask
    from hanbeon.cli.output import print_json

    letter = ask(database, lambda app: app.engine.deadletter(id))
    if json:
        print_json(letter)
        return
    for name in ("id", "stream", "entry", "at", "reason"):
        typer.echo(f"{name}: {getattr(letter, name)}")
    for field, value in letter.payload.items():
        typer.echo(f"  {field}: {value}")


@deadletter.command()
def republish(id: LetterId, database: Database = None, json: Json = False) -> None:
    """Put a message back into its stream, with its jobId, and drop the letter."""
    _done(id, database, "republish_deadletter", "is in its stream again", json)


@deadletter.command()
def drop(id: LetterId, database: Database = None, json: Json = False) -> None:
    """Delete a dead letter for good."""
    _done(id, database, "drop_deadletter", "is deleted", json)


def _done(id: str, database: str | None, action: str, words: str, json: bool) -> None:
    from hanbeon.cli.installation import ask
    from hanbeon.cli.output import print_json

    letter: DeadLetter = ask(database, lambda app: getattr(app.engine, action)(id))
    if json:
        print_json(letter)
    else:
        typer.echo(f"dead letter {letter.id} {words}")
