"""Waits for the end of a job that a command has created."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import typer

from hanbeon.app import App
from hanbeon.cli.formats import brief
from hanbeon.cli.job_follower import Show, bar, follow, raise_unless_succeeded
from hanbeon.cli.new_job import warn_without_worker
from hanbeon.cli.output import console, print_json
from hanbeon.cli.source.database import DatabaseSource
from hanbeon.clock import MICROS
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.errors import HanbeonError
from hanbeon.quotation import plain

_WARN_AFTER_SECONDS = 5.0


Shape = Callable[[JobRecord], Awaitable[Any]]


@contextlib.contextmanager
def hint_on_interrupt(job_id: str) -> Iterator[None]:
    """Print, on Ctrl-C, that this does not stop the job."""
    try:
        yield
    except asyncio.CancelledError:
        typer.echo(f"job {job_id} is not stopped by this; `hanbeon cancel {job_id}` cancels it", err=True)
        raise


async def wait_for(app: App, job_id: str, shape: Shape, *, log: bool, json: bool) -> None:
    """Wait until a job has ended and print its result or, as JSON, what `shape` returns; `log` prints its log.

    Raises unless it succeeded.
    """
    record = await _end_of(app, job_id, log=log)
    if json:
        print_json(await shape(record))
    raise_unless_succeeded(record)
    if not json:
        typer.echo(record.result)


async def _end_of(app: App, job_id: str, *, log: bool) -> JobRecord:
    warning = asyncio.get_running_loop().create_task(_warn_later(app, job_id))
    try:
        with bar(console(stderr=True) if log else None) as screen:
            return await follow(DatabaseSource(app), job_id, screen._replace(show=_with_failures(screen.show)))
    finally:
        warning.cancel()


def _with_failures(show: Show) -> Show:
    """Print each failed attempt that is tried again: it may be minutes until the next one."""
    last = 0

    def show_failure(record: JobRecord) -> None:
        nonlocal last
        if record.state is State.PENDING and record.error_message is not None and record.fence > last:
            last = record.fence
            left = brief(max(0, record.run_at - time.time_ns() // 1_000) / MICROS)
            message = f"attempt {last} failed: {plain(record.error_message)}; it is tried again in {left}"
            typer.echo(f"{message}; `hanbeon job {record.id} --log` shows its log", err=True)
        show(record)

    return show_failure


async def _warn_later(app: App, job_id: str) -> None:
    """Warn once that no worker runs the job. Not at once: a worker may just be starting."""
    await asyncio.sleep(_WARN_AFTER_SECONDS)
    with contextlib.suppress(HanbeonError):
        record = await app.job(job_id).record()
        if record.state is State.READY:
            await warn_without_worker(app, record.task)
