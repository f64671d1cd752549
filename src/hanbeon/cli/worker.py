"""`hanbeon worker`"""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.options import AppName

if TYPE_CHECKING:
    from hanbeon.app import App

THREAD_NAMES = "hanbeon-task"


def worker(
    app: AppName = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Use this database instead of the App's or the file's.", show_default=False),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(metavar="N", help="The most jobs to run at once; by default the App's setting.", min=1),
    ] = None,
) -> None:
    """Run the jobs of an App until SIGTERM or Ctrl-C. A second signal releases the jobs that still run.

    Its tasks are those of --app, of hanbeon.toml, or of both. SIGHUP reloads hanbeon.toml.
    """
    import signal

    from hanbeon.cli.app_loader import load_app
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.logs import log_to_stderr
    from hanbeon.descriptors import raise_descriptor_limit

    # Blocked until the worker handles it: until then SIGHUP must neither kill the process nor get lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    log_to_stderr()
    raise_descriptor_limit()
    run(_work(load_app(app, database), concurrency))
    exit_despite_threads()


def exit_despite_threads() -> None:
    """End the process even if thread tasks still run: Python would wait for their threads indefinitely.

    Their leases are no longer renewed, so their jobs are recovered elsewhere; ending the process ensures that nothing
    of them still runs here.
    """
    if any(thread.name.startswith(THREAD_NAMES) for thread in threading.enumerate()):
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)


async def _work(app: App, concurrency: int | None) -> None:
    async with app:
        await app.worker(concurrency=concurrency).run()
