"""`hanbeon priority`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Database, JobIds, Json
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.domain.lifecycle import State
    from hanbeon.surfaces.installation import Installation


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
        raise InvalidInput(Rule("no_priority_given"), field="priority")

    given: dict[str, Any] = {"priority": to, "urgent": urgent}
    changes: Any = {name: value for name, value in given.items() if value is not None}

    async def reprioritise(installation: Installation, job_id: str) -> State:
        return (await installation.engine.reprioritise(job_id, **changes)).state

    for_each_job(database, ids, reprioritise, json=json)
