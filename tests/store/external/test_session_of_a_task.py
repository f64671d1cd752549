"""An ORM session over `ctx.transaction()`, as docs/guides.md shows it: its writes commit with the job's success."""

from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.pool import StaticPool

from hanbeon import App, Context
from hanbeon.surfaces.store_parts import migrate


class Base(DeclarativeBase):
    pass


class Payment(Base):
    __tablename__ = "payment_of_a_task"
    order: Mapped[int] = mapped_column(primary_key=True)


async def test_a_session_commits_with_the_success(postgres_url: str) -> None:
    await migrate(postgres_url)
    app = App(postgres_url)

    @app.task(retries=1, retry_delay=0)
    async def pay(ctx: Context, order: int) -> None:
        connection = (await ctx.transaction()).connection

        async def connect() -> object:
            return connection

        engine = create_async_engine(
            "postgresql+asyncpg://", async_creator=connect, poolclass=StaticPool, isolation_level="AUTOCOMMIT"
        )
        async with AsyncSession(engine) as session:
            session.add(Payment(order=order + ctx.attempt))
            await session.commit()
        if ctx.attempt == 1:
            raise ConnectionError("the row of this attempt is gone")

    async with app, app.worker():
        async with app.transaction() as tx:
            await tx.execute('CREATE TABLE payment_of_a_task ("order" integer PRIMARY KEY)')
        job = await app.enqueue(pay.call(70))
        await job.result(30)
        assert len(await job.attempts()) == 2
        async with app.transaction() as tx:
            assert [tuple(row) for row in await tx.fetch('SELECT "order" FROM payment_of_a_task')] == [(72,)]
