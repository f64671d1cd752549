"""Effects once: what a task writes through its transaction commits with its success, or not at all."""

import asyncio

from hanbeon import App, Context

app = App("sqlite:///payment.db")


@app.task(retry_delay=0.1)
async def pay(ctx: Context, order: int, amount: int) -> None:
    tx = await ctx.transaction()
    await tx.execute("CREATE TABLE IF NOT EXISTS payment (order_no INTEGER, amount INTEGER)")
    await tx.execute("INSERT INTO payment VALUES (?, ?)", order, amount)
    await ctx.enqueue(receipt.call(order))  # exists if and only if this attempt succeeds
    if ctx.attempt == 1:
        raise ConnectionError("the row and the receipt of this attempt are gone")


@app.task
async def receipt(ctx: Context, order: int) -> str:
    # Mail is outside the database: the receiver can drop what it has seen under this key.
    return f"receipt for order {order}, sent with Idempotency-Key {ctx.idempotency_key}"


@app.task
async def total(ctx: Context) -> list[int]:
    tx = await ctx.transaction()
    rows = await tx.fetch("SELECT count(*) AS payments, sum(amount) AS total FROM payment")
    return [rows[0]["payments"], rows[0]["total"]]


async def main() -> None:
    async with app, app.worker():
        # The key makes this one job, however often it is sent.
        job = await app.enqueue(pay.call(order=7, amount=100), idempotency_key="order-7")
        again = await app.enqueue(pay.call(order=7, amount=100), idempotency_key="order-7")
        assert (again.id, again.created) == (job.id, False)
        await job.result(timeout=30)
        print(await (await app.enqueue(total)).result(timeout=30))


if __name__ == "__main__":
    asyncio.run(main())
