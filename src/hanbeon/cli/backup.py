"""`hanbeon backup` and `hanbeon restore`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.options import Database, Json
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.service.backup import RestoreReport


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


def restore(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="The backup of a SQLite database.")] = None,
    database: Database = None,
    after: Annotated[
        bool, typer.Option("--after", help="The database was restored by other means: do only what follows.")
    ] = False,
    json: Json = False,
) -> None:
    """Restore a SQLite database from a backup, or finish the restore of any database with --after.

    Stop all servers and workers first. The backup is checked, a file that it replaces is kept, and the database begins
    a new incarnation: cursors of events and processes from before are refused, and jobs that were running are recovered
    as lost.
    """
    from hanbeon.cli.app_loader import refuse_missing_file
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.location import database_settings
    from hanbeon.cli.output import print_json
    from hanbeon.errors import InvalidInput
    from hanbeon.service import backup
    from hanbeon.surfaces.store_parts import whole_store

    url = database_settings(database).database_url
    if after and file is not None:
        raise InvalidInput(Rule("not_with_after"), field="FILE")
    if after:
        refuse_missing_file(url)
        report = run(backup.after_restore(whole_store(url)))
    elif backup.sqlite_file(url) is None:
        found = backup.commands(url)
        if json:
            print_json(found)
            return
        typer.echo("PostgreSQL has tools of its own for this; stop all servers and workers first, then run:")
        typer.echo(f"  {found['restore']}\n  {found['after']}")
        return
    elif file is None:
        raise InvalidInput(Rule("backup_required"), field="FILE")
    else:
        report = run(backup.restore(url, file, whole_store))
    if json:
        print_json(report)
    else:
        typer.echo(_text(report))


def _text(report: RestoreReport) -> str:
    lines = [f"restored: incarnation {report.incarnation}, {report.recovered} interrupted jobs recovered"]
    if report.kept is not None:
        lines.append(f"the replaced file is kept as {report.kept}")
    return "\n".join([*lines, "check it with `hanbeon verify`; docs/operations.md says what runs again"])
