"""`hanbeon priority`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.options import Database, JobIds, Json

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.domain.lifecycle import State


def priority(
    ids: JobIds,
    database: Database = None,
    to: Annotated[
        int | None, typer.Option("--to", metavar="N", help="The new priority; lower runs first.", show_default=False)
    ] = None,
    urgent: Annotated[
        bool | None, typer.Option("--urgent/--not-urgent", help="Before all that are not urgent.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Move unfinished jobs within their queue, by priority or by urgency."""
    from hanbeon.cli.bulk_jobs import move_each
    from hanbeon.errors import InvalidInput

    if to is None and urgent is None:
        raise InvalidInput("give --to, --urgent or --not-urgent", field="priority")

    async def reprioritise(app: App, job_id: str) -> State:
        await app.reprioritise(job_id, priority=to, urgent=urgent)
        return await app.job(job_id).state()

    move_each(database, ids, reprioritise, json=json)
