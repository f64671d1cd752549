"""`hanbeon backup`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hanbeon.cli.options import Database, Json
from hanbeon.rule import Rule


def backup(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Where to write the copy.")] = None,
    database: Database = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    json: Json = False,
) -> None:
    """Copy a SQLite database while it is in use, or print the commands that back up PostgreSQL."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.location import database_settings
    from hanbeon.cli.output import print_json
    from hanbeon.errors import InvalidInput
    from hanbeon.service.backup import back_up, commands, sqlite_file

    url = database_settings(database).database_url
    if sqlite_file(url) is None and json:
        print_json(commands(url))
        return
    if sqlite_file(url) is None:
        typer.echo("PostgreSQL has tools of its own for this; docs/operations.md says what to mind:")
        typer.echo(f"  {commands(url)['backup']}")
        return
    if file is None:
        raise InvalidInput(Rule("copy_file_required"), field="FILE")
    size = run(back_up(url, file, force=force))
    if json:
        print_json({"file": str(file), "bytes": size})
    else:
        typer.echo(f"wrote {file}: {size} bytes")
