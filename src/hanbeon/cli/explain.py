"""`hanbeon explain`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hanbeon.cli.options import Database, JobId, Json

if TYPE_CHECKING:
    from hanbeon.surfaces.schema import Explanation


def explain(id: JobId, database: Database = None, json: Json = False) -> None:
    """Explain why a job is not running, or why it failed.

    For a waiting job: its dependencies, time, queue, slots and workers. For a job that failed or was cancelled: the
    error of its last attempt, the retries it used, when, and what to do.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json
    from hanbeon.quotation import plain

    explanation = run(_explain(database, id))
    if json:
        print_json(explanation)
        return
    for reason in explanation.reasons:
        typer.echo(plain(reason["text"]))


async def _explain(database: str | None, job_id: str) -> Explanation:
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.installation import open_installation

    check_ids([job_id])
    async with open_installation(database) as installation:
        return await installation.engine.explain(job_id)
