"""A worker for tests that have no event loop of their own."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from hanbeon import App


@contextlib.contextmanager
def working(app: App) -> Iterator[None]:
    """Run a worker of the App in a thread for the duration of the block."""
    loop = asyncio.new_event_loop()
    ready, enough = threading.Event(), asyncio.Event()

    async def work() -> None:
        async with app, app.worker():
            ready.set()
            await enough.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(work()))
    thread.start()
    try:
        assert ready.wait(20)
        yield
    finally:
        loop.call_soon_threadsafe(enough.set)
        thread.join()
        loop.close()
