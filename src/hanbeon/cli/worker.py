"""`hanbeon worker`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hanbeon.app import App


def worker(
    app: Annotated[
        str, typer.Option("--app", metavar="MODULE:NAME", help="Where the App is, for example shop.jobs:app.")
    ],
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="Work on this database instead of the App's.", show_default=False)
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many jobs to run at once; by default the App's setting.", min=1),
    ] = None,
) -> None:
    """Run the jobs of an App until SIGTERM or Ctrl-C; a second one hands back what still runs."""
    from hanbeon.cli.loading import load_app
    from hanbeon.cli.logs import log_to_stderr
    from hanbeon.cli.running import run

    log_to_stderr()
    run(_work(load_app(app, database), concurrency))


async def _work(app: App, concurrency: int | None) -> None:
    async with app:
        await app.worker(concurrency=concurrency).run()
