"""Commands that run the jobs of an App: `hanbeon worker`, `serve` and `tick`."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import AppName, Json
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.engine.tick import Ticked

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
    reload: Annotated[
        bool, typer.Option("--reload", help="For development: restart when a Python file below this folder changes.")
    ] = False,
) -> None:
    """Run the jobs of an App until SIGTERM or Ctrl-C. A second signal releases the jobs that still run.

    Its tasks are those of --app, of hanbeon.toml, or of both. SIGHUP reloads hanbeon.toml.
    """
    import signal

    from hanbeon.cli.app_loader import load_app
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.logs import log_to_stderr
    from hanbeon.descriptors import raise_descriptor_limit

    if reload:
        from hanbeon.cli.command_words import given_arguments
        from hanbeon.cli.location import named_file
        from hanbeon.cli.reload import run_reloading

        raise typer.Exit(run_reloading(given_arguments(), named_file()))
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


_MIN_BUDGET_SECONDS = 0.1


def tick(
    app: AppName = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Use this database instead of the App's or the file's.", show_default=False),
    ] = None,
    budget: Annotated[str, typer.Option(metavar="SPAN", help="The time budget.")] = "50s",
    concurrency: Annotated[
        int | None,
        typer.Option(metavar="N", help="The most jobs to run at once; by default the App's setting.", min=1),
    ] = None,
    json: Json = False,
) -> None:
    """Do one round of a worker's work within a time budget, and report what was done.

    For cron and serverless platforms: fires due schedules, promotes due jobs, recovers the jobs of lost workers, runs
    ready jobs and prunes old data. It ends when nothing more can run now or the budget is used up; a job that still
    runs then is released, which costs no retry. Several ticks may run at the same time.
    """
    from hanbeon.cli.app_loader import load_app
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.logs import log_to_stderr
    from hanbeon.cli.output import print_json
    from hanbeon.clock import seconds_of
    from hanbeon.errors import InvalidInput

    seconds = seconds_of(budget, "budget")
    if seconds < _MIN_BUDGET_SECONDS:
        raise InvalidInput(
            Rule("must_be", what=Rule("seconds_at_least", low=f"{_MIN_BUDGET_SECONDS:g}"), got=quoted(budget)),
            field="budget",
        )
    log_to_stderr()
    ticked = run(_tick(load_app(app, database), seconds, concurrency))
    if json:
        print_json(_shape(ticked))
    else:
        typer.echo(_summary(ticked))
    exit_despite_threads()


async def _tick(app: App, budget: float, concurrency: int | None) -> Ticked:
    import asyncio

    from hanbeon.engine.signals import handling_signals
    from hanbeon.engine.tick import grace_within, tick

    stop = asyncio.Event()
    app.use(None, shutdown_grace=grace_within(budget, app.settings))
    async with app:
        with handling_signals(stop.set, lambda: None):
            return await tick(app.worker(concurrency=concurrency), app.store, app.settings, budget, stop)


def _shape(ticked: Ticked) -> dict[str, object]:
    done = ticked.done
    return {
        "idle": ticked.idle,
        "seconds": round(ticked.seconds, 3),
        "fired": dict(sorted(ticked.fired.items())),
        "ended": {reason.value: count for reason, count in sorted(done.ended.items())},
        "recovered": done.recovered,
        "promoted": done.promoted,
        "pruned": done.pruned,
    }


def _summary(ticked: Ticked) -> str:
    done = ticked.done
    fires, ends = _numbers(ticked.fired), _numbers(done.ended)
    rest = "nothing is left to run now" if ticked.idle else "there may be more"
    return (
        f"fired {fires}; ended {ends}; recovered {done.recovered}, promoted {done.promoted}, pruned {done.pruned}; "
        f"{ticked.seconds:.1f} s, {rest}"
    )


def _numbers(counted: Mapping[Any, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items())) or "none"


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
    from hanbeon.descriptors import raise_descriptor_limit
    from hanbeon.extras import extra

    with extra("server", "hanbeon serve"):
        from hanbeon.server import server

    # Blocked until the server handles it: until then SIGHUP must neither kill the process nor get lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    log_to_stderr()
    raise_descriptor_limit()
    found: App = app_or_empty(app, database, host=host, port=port)
    run(server.serve(found, work=worker, started=_print_address))
    exit_despite_threads()


def _print_address(url: str) -> None:
    """Print the address to a person, as the last line of the start."""
    if sys.stderr.isatty():
        typer.echo(f"Open {url} - Ctrl-C ends it.", err=True)
