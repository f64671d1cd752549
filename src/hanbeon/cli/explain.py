"""`hanbeon explain`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hanbeon.cli.options import Database, JobId, Json

if TYPE_CHECKING:
    import datetime as dt

    from hanbeon.domain.explain import Explanation


def explain(id: JobId, database: Database = None, json: Json = False) -> None:
    """Explain why a job is not running, or why it failed.

    For a waiting job: its dependencies, time, queue, slots and workers. For a job that failed or was cancelled: the
    error of its last attempt, the retries it used, when, and what to do.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.json_output import explanation_shape
    from hanbeon.cli.output import print_json
    from hanbeon.quotation import plain

    explanation, zone = run(_explain(database, id))
    if json:
        print_json(explanation_shape(explanation, zone))
        return
    for reason in explanation.reasons:
        typer.echo(plain(reason.text))


async def _explain(database: str | None, job_id: str) -> tuple[Explanation, dt.tzinfo]:
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.source.source import open_source

    check_ids([job_id])
    async with open_source(database) as source:
        return await source.explain(job_id), source.zone
