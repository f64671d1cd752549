"""`hanbeon config`"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hanbeon.cli.groups import group
from hanbeon.cli.options import AppName, Database, Json

config = group("Show the settings, and whether they work.")


@config.command()
def show(
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Show every setting as it is in force here, or for an App. Passwords are masked."""
    from hanbeon.cli.origins import settings_in_force
    from hanbeon.cli.output import print_json, print_table

    found = settings_in_force(app, database)
    if json:
        print_json({"settings": found})
    elif origin:
        print_table(("setting", "value", "origin"), [(each.name, each.shown, each.origin) for each in found])
    else:
        print_table(("setting", "value"), [(each.name, each.shown) for each in found])


@config.command()
def check(app: AppName = None, database: Database = None, json: Json = False) -> None:
    """Check the environment, hanbeon.toml and the database.

    That is values and misspelt names, tasks, queues, programs, folders and functions, the connection, the schema.
    """
    from hanbeon.cli import exits
    from hanbeon.cli.configuring import settings_here
    from hanbeon.cli.opening import will_be_made
    from hanbeon.cli.origins import file_here, problems
    from hanbeon.cli.output import print_json
    from hanbeon.cli.running import run
    from hanbeon.settings import masked

    found = run(problems(app, database))
    if json:
        shapes: list[dict[str, Any]] = [{"code": each.code, "message": str(each)} for each in found]
        print_json({"ok": not found, "problems": shapes})
    else:
        for each in found:
            typer.echo(f"error: {each}", err=True)
    if found:
        raise typer.Exit(exits.EXIT_CODES[found[0].kind])
    if not json:
        url = masked(settings_here(database_url=database).database_url)
        made = ", which the first worker or job makes" if database is None and will_be_made(url) else ""
        typer.echo(f"all is well with {file_here()} and {url}{made}")
