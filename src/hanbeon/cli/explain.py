"""`hanbeon explain`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hanbeon.cli.options import Database, JobId, Json

if TYPE_CHECKING:
    from hanbeon.domain.explain import Explanation


def explain(id: JobId, database: Database = None, json: Json = False) -> None:
    """Say why a job is not running: dependencies, its time, a pause, full slots, no worker."""
    from hanbeon.cli.output import plain, print_json
    from hanbeon.cli.running import run

    explanation = run(_explain(database, id))
    if json:
        print_json(explanation)
        return
    for reason in explanation.reasons:
        typer.echo(plain(reason.text))


async def _explain(database: str | None, job_id: str) -> Explanation:
    from hanbeon.cli.ids import check_ids
    from hanbeon.cli.opening import looking

    check_ids([job_id])
    async with looking(database) as app:
        return await app.explain(job_id)
