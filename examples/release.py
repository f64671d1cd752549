"""A graph of jobs under limits: three agents at once, one of each role."""

import asyncio

from hanbeon import App, Context

app = App("sqlite:///release.db")


@app.task(queue="office", timeout=30)
async def work(ctx: Context, title: str) -> str:
    for percent in (25, 50, 75, 100):
        await asyncio.sleep(0.02)
        await ctx.progress(percent)
    return title


async def main() -> None:
    async with app, app.worker():
        await app.configure_queue("office", max_concurrent=3, roles={"FE": 1, "BE": 1, "QA": 1})

        design = work.call("design").set(role="Architect")
        pages = work.call("pages").set(role="FE", after=[design])
        service = work.call("service").set(role="BE", after=[design], priority=-1)
        tests = work.call("tests").set(role="QA", after=[pages, service])
        jobs = await app.enqueue_many([design, pages, service, tests])  # all of them or none

        print(await jobs[-1].result(timeout=30), "done")
        async for event in app.events():
            print(event.id, event.type, event.job_id)
            if event.job_id == tests.id and event.type == "succeeded":
                break


if __name__ == "__main__":
    asyncio.run(main())
