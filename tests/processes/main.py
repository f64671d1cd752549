"""The program of a worker process: an App made by a module of tests, and one or more of its workers until SIGTERM."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import sys
from typing import Any, NamedTuple

from hanbeon import App
from tests.processes.owner import end_with_the_owner
from tests.processes.process import READY


class Arguments(NamedTuple):
    """What a worker process is told on its command line."""

    url: str
    module: str
    settings: dict[str, Any]
    concurrency: int
    workers: int = 1
    before: str | None = None


async def work(arguments: Arguments) -> None:
    app: App = importlib.import_module(arguments.module).make_app(arguments.url, **arguments.settings)
    async with app:
        # SIGTERM reaches the first, and it takes the others along.
        first, *others = (
            app.worker(concurrency=arguments.concurrency, name=f"{os.getpid()}.{number}")
            for number in range(arguments.workers)
        )
        running = asyncio.create_task(first.run())
        for other in others:
            await other.start()
        while not first.instance and not running.done():  # noqa: ASYNC110 - it announces its start to nobody
            await asyncio.sleep(0.01)
        if not running.done():
            print(READY, flush=True)
        await running
        await asyncio.gather(*(other.stop() for other in others))


def main() -> None:
    end_with_the_owner()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    arguments = Arguments(*json.loads(sys.argv[1]))
    if arguments.before is not None:
        module, _, function = arguments.before.partition(":")
        getattr(importlib.import_module(module), function)()
    asyncio.run(work(arguments))


if __name__ == "__main__":
    main()
