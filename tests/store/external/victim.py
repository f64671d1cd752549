"""A caller that is killed before it commits: enqueues, says so, and waits for its end."""

import asyncio
import sys

from hanbeon import App
from tests.store.external.callers import of_asyncpg


async def main(url: str) -> None:
    app = App(url)

    @app.task
    async def send(to: str) -> None: ...

    async with app, of_asyncpg(url) as caller:
        await caller.execute("INSERT INTO orders VALUES (1)")
        await app.enqueue_many([send.call(str(n)) for n in range(100)], transaction=caller.transaction)
        print("enqueued", flush=True)
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
