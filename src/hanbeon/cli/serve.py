"""`hanbeon serve`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.options import AppName

if TYPE_CHECKING:
    from hanbeon.app import App


def serve(
    app: AppName = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Serve this database instead of the App's or the file's.", show_default=False),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Where to listen; by default this machine alone. Anything else needs a token first.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", help="The port; 8000 by default.", min=0, max=65_535, show_default=False),
    ] = None,
    worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Whether to run jobs too, or the API alone.")
    ] = True,
) -> None:
    """Serve the HTTP API and run the jobs of an App until SIGTERM or Ctrl-C; a second one hurries.

    Its tasks are those of --app, of hanbeon.toml, or of both; there may be none. SIGHUP reads hanbeon.toml again.
    """
    import signal

    from hanbeon.cli.app_loader import app_or_none_of_tasks
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.logs import log_to_stderr
    from hanbeon.cli.worker import leave_threads_behind
    from hanbeon.server import server

    # Until the server listens: to die of it, or not to hear it, would both be wrong.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    log_to_stderr()
    found: App = app_or_none_of_tasks(app, database, host=host, port=port)
    run(server.serve(found, work=worker))
    leave_threads_behind()
