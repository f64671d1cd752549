"""Make jobs, run them, read their results."""

import asyncio

from hanbeon import App, Context

app = App("sqlite:///jobs.db")


@app.task(retries=2, retry_delay=0.5)
async def greet(ctx: Context, name: str) -> str:
    if name == "Grace" and ctx.attempt == 1:
        raise ConnectionError("the first try often fails")
    return f"Hello, {name}! (attempt {ctx.attempt})"


async def main() -> None:
    async with app, app.worker():
        jobs = await app.enqueue_many([greet.call("Ada"), greet.call("Grace")])
        for job in jobs:
            print(await job.result(timeout=30))


if __name__ == "__main__":
    asyncio.run(main())
