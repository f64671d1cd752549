"""`hanbeon priority`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.options import Database, JobIds, Json

if TYPE_CHECKING:
    from hanbeon.cli.source.source import Source
    from hanbeon.domain.lifecycle import State


def priority(
    ids: JobIds,
    database: Database = None,
    to: Annotated[
        int | None, typer.Option("--to", metavar="N", help="The new priority; lower runs first.", show_default=False)
    ] = None,
    urgent: Annotated[
        bool | None,
        typer.Option("--urgent/--not-urgent", help="Run before all jobs that are not urgent.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Change the priority or urgency of unfinished jobs."""
    from hanbeon.cli.bulk_jobs import for_each_job
    from hanbeon.errors import InvalidInput

    if to is None and urgent is None:
        raise InvalidInput("nothing to change; pass --to, --urgent or --not-urgent", field="priority")

    async def reprioritise(source: Source, job_id: str) -> State:
        return await source.reprioritise(job_id, to, urgent)

    for_each_job(database, ids, reprioritise, json=json)
