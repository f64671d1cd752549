"""`hanbeon tick`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import AppName, Json

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.engine.tick import Ticked

_LEAST_SECONDS = 0.1


def tick(
    app: AppName = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Work on this database instead of the App's or the file's.", show_default=False
        ),
    ] = None,
    budget: Annotated[str, typer.Option(metavar="SPAN", help="How long it may take.")] = "50s",
    concurrency: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many jobs to run at once; by default the App's setting.", min=1),
    ] = None,
    json: Json = False,
) -> None:
    """Do once what a worker does all the time, within a time budget, and say what was done.

    For a cron or a serverless platform: schedules and jobs that are due have their turn, jobs of workers that vanished
    are recovered, what is ready runs, what is old goes. It ends when nothing more can run now, or with the budget; a
    job that still runs then is handed back, at no cost of a retry. Many at once do no harm.
    """
    from hanbeon.cli.app_loader import load_app
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.logs import log_to_stderr
    from hanbeon.cli.output import print_json
    from hanbeon.cli.worker import leave_threads_behind
    from hanbeon.clock import seconds_of
    from hanbeon.errors import InvalidInput

    seconds = seconds_of(budget, "budget")
    if seconds < _LEAST_SECONDS:
        raise InvalidInput(f"{budget!r} is too short; use at least {_LEAST_SECONDS:g}s", field="budget")
    log_to_stderr()
    ticked = run(_tick(load_app(app, database), seconds, concurrency))
    if json:
        print_json(_shape(ticked))
    else:
        typer.echo(_words(ticked))
    leave_threads_behind()


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
        "fired": {outcome.value: count for outcome, count in sorted(ticked.fired.items())},
        "ended": {reason.value: count for reason, count in sorted(done.ended.items())},
        "recovered": done.recovered,
        "promoted": done.promoted,
        "pruned": done.pruned,
    }


def _words(ticked: Ticked) -> str:
    done = ticked.done
    fires, ends = _numbers(ticked.fired), _numbers(done.ended)
    rest = "nothing is left to run now" if ticked.idle else "there may be more"
    return (
        f"fired {fires}; ended {ends}; recovered {done.recovered}, promoted {done.promoted}, pruned {done.pruned}; "
        f"{ticked.seconds:.1f} s, {rest}"
    )


def _numbers(counted: Mapping[Any, int]) -> str:
    return ", ".join(f"{count} {what.value}" for what, count in sorted(counted.items())) or "none"
