"""Waits for the end of a job that a command has created."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import typer

from hanbeon.cli.formats import brief, json_text, now_beside, seconds_between
from hanbeon.cli.job_follower import Show, bar, follow, raise_unless_succeeded
from hanbeon.cli.new_job import warn_without_worker
from hanbeon.cli.output import console, print_json
from hanbeon.domain.lifecycle import State
from hanbeon.errors import HanbeonError
from hanbeon.quotation import plain
from hanbeon.surfaces.engine.schemas import EngineJob
from hanbeon.surfaces.installation import Installation

_WARN_AFTER_SECONDS = 5.0


Shape = Callable[[EngineJob], Awaitable[Any]]


@contextlib.contextmanager
def hint_on_interrupt(job_id: str) -> Iterator[None]:
    """Print, on Ctrl-C, that this does not stop the job."""
    try:
        yield
    except asyncio.CancelledError:
        typer.echo(f"job {job_id} is not stopped by this; `hanbeon cancel {job_id}` cancels it", err=True)
        raise


async def wait_for(
    installation: Installation, job_id: str, *, log: bool, json: bool, shape: Shape | None = None
) -> None:
    """Wait until a job has ended and print its result or, as JSON, the job or what `shape` returns.

    `log` prints its log. Raises unless the job succeeded.
    """
    job = await _end_of(installation, job_id, log=log)
    if json:
        print_json(job if shape is None else await shape(job))
    raise_unless_succeeded(job)
    if not json:
        typer.echo(json_text(job.result) or "null")


async def _end_of(installation: Installation, job_id: str, *, log: bool) -> EngineJob:
    warning = asyncio.get_running_loop().create_task(_warn_later(installation, job_id))
    try:
        with bar(console(stderr=True) if log else None) as screen:
            return await follow(installation, job_id, screen._replace(show=_with_failures(screen.show)))
    finally:
        warning.cancel()


def _with_failures(show: Show) -> Show:
    """Print each failed attempt that is tried again: it may be minutes until the next one."""
    last = 0

    def show_failure(job: EngineJob) -> None:
        nonlocal last
        if job.state is State.PENDING and job.error_message is not None and job.attempt > last:
            last = job.attempt
            left = brief(max(0.0, -seconds_between(job.run_at, now_beside(job.run_at))))
            message = f"attempt {last} failed: {plain(job.error_message)}; it is tried again in {left}"
            typer.echo(f"{message}; `hanbeon job {job.id} --log` shows its log", err=True)
        show(job)

    return show_failure


async def _warn_later(installation: Installation, job_id: str) -> None:
    """Warn once that no worker runs the job. Not at once: a worker may just be starting."""
    await asyncio.sleep(_WARN_AFTER_SECONDS)
    with contextlib.suppress(HanbeonError):
        job = await installation.engine.job(job_id)
        if job.state is State.READY:
            await warn_without_worker(installation, job.task)
