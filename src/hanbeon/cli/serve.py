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
            help="The address to listen on; by default localhost. Any other address needs a token first.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The port to listen on; by default 8000.", min=0, max=65_535, show_default=False
        ),
    ] = None,
    worker: Annotated[bool, typer.Option("--worker/--no-worker", help="Run jobs too, or only serve the API.")] = True,
) -> None:
    """Serve the HTTP API and run the jobs of an App until SIGTERM or Ctrl-C. A second signal cuts the shutdown short.

    Its tasks are those of --app, of hanbeon.toml, or of both; there may be none. SIGHUP reloads hanbeon.toml.
    """
    import signal

    from hanbeon.cli.app_loader import app_or_empty
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.logs import log_to_stderr
    from hanbeon.cli.worker import exit_despite_threads
    from hanbeon.descriptors import raise_descriptor_limit
    from hanbeon.extras import extra

    with extra("server", "hanbeon serve"):
        from hanbeon.server import server

    # Blocked until the server handles it: until then SIGHUP must neither kill the process nor get lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    log_to_stderr()
    raise_descriptor_limit()
    found: App = app_or_empty(app, database, host=host, port=port)
    run(server.serve(found, work=worker))
    exit_despite_threads()
