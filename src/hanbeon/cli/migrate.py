"""`hanbeon migrate`"""

from __future__ import annotations

import typer

from hanbeon.cli.options import Database


def migrate(database: Database = None) -> None:
    """Bring the database's schema up to date. It is idempotent, and safe to run concurrently."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.location import database_settings
    from hanbeon.store import schema
    from hanbeon.surfaces import store_parts

    applied = run(store_parts.migrate(database_settings(database).database_url))
    if applied:
        typer.echo(f"applied {', '.join(str(version) for version in applied)}; the schema is at version {applied[-1]}")
    else:
        typer.echo(f"up to date: the schema is at version {schema.VERSION}")
