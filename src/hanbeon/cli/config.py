"""`hanbeon config`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.groups import group
from hanbeon.cli.options import AppName, Database, Json

if TYPE_CHECKING:
    from hanbeon.errors import HanbeonError

config = group("Show and check the settings.")


@config.command()
def show(
    origin: Annotated[bool, typer.Option("--origin", help="Show where each value comes from.")] = False,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Show every setting in effect here or for an App. Passwords are masked."""
    from hanbeon.cli.config_check import settings_in_force
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

    Checks values and misspelt names, tasks, queues, schedules, programs, folders, functions, secrets, the connection
    and the schema. All problems of the environment and the file are reported together, those of the file with field
    and line.
    """
    from hanbeon.cli import exits
    from hanbeon.cli.app_loader import will_be_created
    from hanbeon.cli.config_check import file_here, problems
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.location import settings_here
    from hanbeon.cli.output import print_json
    from hanbeon.errors import Kind, SecretUnavailable
    from hanbeon.settings import masked

    found = run(problems(app, database))
    if json:
        print_json({"ok": not found, "problems": [_shape(each) for each in found]})
    else:
        for each in found:
            typer.echo(f"error: {each}", err=True)
    if found:
        # The kind of SecretUnavailable is that of a failed job, which is not meant here.
        kind = Kind.UNAVAILABLE if isinstance(found[0], SecretUnavailable) else found[0].kind
        raise typer.Exit(exits.EXIT_CODES[kind])
    if not json:
        url = masked(settings_here(database_url=database).database_url)
        created = ", which the first worker or job creates" if database is None and will_be_created(url) else ""
        typer.echo(f"ok: {file_here()} and {url}{created}")


def _shape(problem: HanbeonError) -> dict[str, Any]:
    """Return a problem as JSON; `line` is the line of hanbeon.toml, if the problem is there."""
    field, line = getattr(problem, "field", None), getattr(problem, "line", None)
    return {"code": problem.code, "message": str(problem), "field": field, "line": line}
