"""Runs the demo: releases with a live view until Ctrl-C, or one release line by line."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from rich.console import Console
from rich.live import Live

from hanbeon.cli.demo.board import Board
from hanbeon.cli.demo.pipeline import Pipeline
from hanbeon.cli.demo.view import View, closing_line, event_line
from hanbeon.service.verify import render
from hanbeon.surfaces.verify import verify

_LIVE_PACE, _ONCE_PACE = 1.0, 0.2
_FRAME_SECONDS = 0.1
_REST_SECONDS = 3.0


async def show_once(console: Console, database: str | None) -> bool:
    """Run one release and print each event; return whether every job succeeded and the database is sound."""
    async with _office(database, _ONCE_PACE) as (pipeline, board):
        await board.start(1)
        while True:
            # Read before the refresh: if it was finished then, the refresh returns the last events.
            finished = board.finished
            for line in await board.refresh():
                console.print(event_line(line, board.zone), soft_wrap=True)
            if finished:
                break
            await asyncio.sleep(_FRAME_SECONDS)
        console.print(closing_line(board), soft_wrap=True)
        report = await verify(pipeline.app.store)
        console.print(render(report, zone=board.zone), soft_wrap=True, markup=False, highlight=False)
        return board.succeeded and report.sound


async def show_live(console: Console, database: str | None) -> bool:
    """Run release after release under a live view until Ctrl-C."""
    with _interruption() as stop:
        async with _office(database, _LIVE_PACE) as (pipeline, board):
            with Live(View(board), console=console, screen=True, auto_refresh=False) as live:
                while not stop.is_set():
                    await board.start(board.release + 1)
                    while not (stop.is_set() or board.finished):
                        await board.refresh()
                        live.refresh()
                        await _pause(stop, _FRAME_SECONDS)
                    live.refresh()
                    await _pause(stop, _REST_SECONDS)
            await _clear(pipeline, board)
        console.print(closing_line(board))
    return True


async def _clear(pipeline: Pipeline, board: Board) -> None:
    """Cancel unfinished jobs: the database may be the user's own."""
    await pipeline.app.cancel_where(work_item=pipeline.work_item(board.release))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_REST_SECONDS):
            while not board.finished:
                await board.refresh()
                await asyncio.sleep(_FRAME_SECONDS)


@contextlib.asynccontextmanager
async def _office(database: str | None, pace: float) -> AsyncIterator[tuple[Pipeline, Board]]:
    """Open a pipeline with a worker, on the given database or a temporary one."""
    with tempfile.TemporaryDirectory(prefix="hanbeon-demo-") as folder:
        pipeline = Pipeline(database or f"sqlite:///{Path(folder) / 'demo.db'}", pace)
        async with pipeline.app as app:
            await pipeline.limit()
            board = Board(pipeline)
            await board.open()
            async with app.worker(name="demo"):
                yield pipeline, board


@contextlib.contextmanager
def _interruption() -> Iterator[asyncio.Event]:
    """Return an event that SIGINT or SIGTERM sets."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
