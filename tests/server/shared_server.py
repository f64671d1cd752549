"""A server that many tests share, in a thread of its own: for requests that leave nothing behind that others see."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from hanbeon import App
from tests.server.client import Client, serving

_PATIENCE = 60.0


@contextmanager
def server_in_thread(app: App) -> Iterator[Client]:
    """A client of a server without a worker, which any test may ask from its own event loop."""
    started: Future[tuple[Client, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stopping = asyncio.Event()
        try:
            async with app, serving(app) as client:
                started.set_result((client, asyncio.get_running_loop(), stopping))
                await stopping.wait()
        except BaseException as error:
            if not started.done():
                started.set_exception(error)
            raise

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="shared server")
    thread.start()
    client, loop, stopping = started.result(_PATIENCE)
    try:
        yield client
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(_PATIENCE)
