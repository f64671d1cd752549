"""Chores of a small shop, run by schedules of the showcase."""

from __future__ import annotations

import asyncio
import random

from hanbeon import Context


async def count_stock(ctx: Context, shelves: int) -> dict[str, int]:
    """Count shelf by shelf, a second each, and report the progress."""
    missing = 0
    for shelf in range(1, shelves + 1):
        found = random.randint(0, 12)
        missing += found == 0
        ctx.log(f"shelf {shelf}: {found} boxes" if found else f"\x1b[33mshelf {shelf}: empty\x1b[0m")
        await ctx.progress({"percent": round(100 * shelf / shelves), "shelf": shelf})
        await asyncio.sleep(1)
    return {"shelves": shelves, "empty": missing}


async def fetch_rates(ctx: Context, currencies: list[str]) -> dict[str, float]:
    """Answer made-up exchange rates; the source is down now and then."""
    if random.random() < 0.25:
        raise ConnectionError("the bank does not answer: 503 Service Unavailable")
    rates = {each: round(random.uniform(900, 1_500), 2) for each in currencies}
    ctx.log(", ".join(f"{name} {rate}" for name, rate in rates.items()))
    return rates


async def sales(ctx: Context) -> dict[str, int]:
    """Answer made-up sales of the day."""
    orders = random.randint(20, 400)
    return {"orders": orders, "total": orders * random.randint(8_000, 30_000)}


async def close_the_month(ctx: Context) -> str:
    ctx.log("nothing to close")
    return "closed"
