"""`hanbeon explain`"""

from __future__ import annotations

import typer

from hanbeon.cli.options import Database, JobId, Json


def explain(id: JobId, database: Database = None, json: Json = False) -> None:
    """Explain why a job is not running, or why it failed.

    For a waiting job: its dependencies, time, queue, slots and workers. For a job that failed or was cancelled: the
    error of its last attempt, the retries it used, when, and what to do.
    """
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.installation import ask
    from hanbeon.cli.output import print_json
    from hanbeon.quotation import plain

    check_ids([id])
    explanation = ask(database, lambda installation: installation.engine.explain(id))
    if json:
        print_json(explanation)
        return
    for reason in explanation.reasons:
        typer.echo(plain(reason["text"]))
