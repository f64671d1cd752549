"""Waits for the end of a job that a command has made."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import typer

from hanbeon.app import App
from hanbeon.cli.job_follower import bar, follow, refuse_unless_succeeded
from hanbeon.cli.new_job import warn_without_worker
from hanbeon.cli.output import console, print_json
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.errors import HanbeonError

_PATIENCE_SECONDS = 5.0


Shape = Callable[[JobRecord], Awaitable[Any]]


@contextlib.contextmanager
def goes_on(job_id: str) -> Iterator[None]:
    """Whoever presses Ctrl-C once a job is made is told that this does not stop it."""
    try:
        yield
    except asyncio.CancelledError:
        typer.echo(f"job {job_id} goes on; `hanbeon cancel {job_id}` stops it", err=True)
        raise


async def wait_for(app: App, job_id: str, shape: Shape, *, log: bool, json: bool) -> None:
    """Until a job has ended: its progress, its log if wanted, then its result or, as JSON, what `shape` makes of it.

    Raises unless it succeeded.
    """
    record = await _end_of(app, job_id, log=log)
    if json:
        print_json(await shape(record))
    refuse_unless_succeeded(record)
    if not json:
        typer.echo(record.result)


async def _end_of(app: App, job_id: str, *, log: bool) -> JobRecord:
    noticing = asyncio.get_running_loop().create_task(_notice(app, job_id))
    try:
        with bar(console(stderr=True) if log else None) as screen:
            return await follow(app, job_id, screen)
    finally:
        noticing.cancel()


async def _notice(app: App, job_id: str) -> None:
    """Say once, after a while, that nobody is there to run it. Not at once: a worker may be starting just now."""
    await asyncio.sleep(_PATIENCE_SECONDS)
    with contextlib.suppress(HanbeonError):
        record = await app.job(job_id).record()
        if record.state is State.READY:
            await warn_without_worker(app, record.task)
