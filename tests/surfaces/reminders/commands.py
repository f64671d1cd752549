"""`hanbeon remember`"""

from __future__ import annotations

import typer

from hanbeon.cli.options import Database


def remember(text: str, database: Database = None) -> None:
    """Keep a text to be sent again."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.location import settings_here
    from hanbeon.surfaces.store_parts import whole_store
    from tests.surfaces.reminders.rows import keep_text

    async def keep() -> int:
        store = whole_store(settings_here(database_url=database).database_url)
        await store.open()
        try:
            return await store.write(lambda tx: keep_text(tx, text))
        finally:
            await store.close()

    typer.echo(f"text {run(keep())}")
