"""Tasks of the cases. Most must run once, whatever is lost."""

from __future__ import annotations

from hanbeon import App, Context, PermanentError
from tests.storm.lost_commits.scene import Stage

EFFECTS = "CREATE TABLE IF NOT EXISTS effects (job_id text)"


def add_tasks(app: App, stage: Stage) -> None:
    def ran(ctx: Context) -> None:
        assert stage.current is not None
        stage.current.ran[ctx.job_id] += 1

    @app.task(on_lost="fail", retries=0)
    async def quick(ctx: Context) -> None:
        ran(ctx)

    @app.task(on_lost="fail", retries=0)
    async def broken(ctx: Context) -> None:
        ran(ctx)
        raise PermanentError("on purpose")

    @app.task(on_lost="fail", retries=1, retry_delay=0, jitter=0)
    async def flaky(ctx: Context) -> None:
        ran(ctx)
        if ctx.retry_count == 0:
            raise RuntimeError("the first time")

    @app.task(on_lost="fail", retries=0)
    async def parent(ctx: Context) -> None:
        ran(ctx)
        await ctx.enqueue(quick.call().set(queue=ctx.queue))

    @app.task(retries=3, retry_delay=0, jitter=0)
    async def writes(ctx: Context) -> None:
        tx = await ctx.transaction()
        await tx.execute("INSERT INTO effects VALUES ($1)" if _on_postgres(app) else _SQLITE, ctx.job_id)

    @app.task(retries=3, retry_delay=0, jitter=0)
    async def talks(ctx: Context) -> None:
        ctx.log("hello")
        await ctx.progress(0.5)
        ctx.log("goodbye")


_SQLITE = "INSERT INTO effects VALUES (?)"


def _on_postgres(app: App) -> bool:
    return app.store.database.dialect.__name__ == "Postgres"
