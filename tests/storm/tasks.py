"""The tasks of the chaos runs: tiny ones in bulk, and slow ones that record when they began and how they were stopped.

Journals use `boottime`, so that bodies of several processes can be ordered.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from typing import Any

from hanbeon import App, Context, SyncContext
from hanbeon.clock import Clock
from hanbeon.errors import LeaseLost
from hanbeon.tasks.definitions import Decorator
from tests.storm.journal import boottime, write_line

WRITE = "INSERT INTO ledger (job, fence) VALUES ($1, $2)"


def make_app(url: str, *, clock: Clock | None = None, **settings: Any) -> App:
    """An App with every task below."""
    app = App(url, clock=clock, **settings)

    def tried(name: str | None = None, on_lost: str = "retry", timeout: float | None = None) -> Decorator:
        # Chaos uses up retries without a fault of the task; a linear backoff from this delay stays short.
        return app.task(name=name, on_lost=on_lost, timeout=timeout, retries=1000, retry_delay=0.02, backoff="linear")

    for function in (quick, nap, flaky, ledger, first_try_hangs, gated, gated_ledger, gated_progress):
        tried()(function)
    for thread_function in (threaded, ledger_threaded, threaded_watch):
        tried()(thread_function)
    tried("limited", timeout=3.0)(first_try_hangs)
    tried("at_most_once", on_lost="fail")(first_try_hangs)
    app.task(retries=3, retry_delay=0)(tiny)
    child = tried("child")(quick)

    async def bear(ctx: Context, children: int) -> None:
        for _ in range(children):
            await ctx.enqueue(child.call().set(work_item=ctx.job_id))

    @tried()
    async def parent(ctx: Context, children: int, pause: float) -> None:
        await bear(ctx, children)
        await asyncio.sleep(pause)

    @tried()
    async def ledger_parent(ctx: Context, children: int, pause: float) -> None:
        await bear(ctx, children)
        await ledger(ctx, pause)

    return app


# In bulk


async def quick() -> None:
    """Nothing but the engine's own work."""


async def nap(seconds: float) -> None:
    await asyncio.sleep(seconds)


def threaded(seconds: float) -> None:
    time.sleep(seconds)


async def flaky(ctx: Context, failures: int) -> None:
    if ctx.attempt <= failures:
        raise RuntimeError("as asked")


async def ledger(ctx: Context, pause: float) -> None:
    """One row, through the transaction that commits with the job's success."""
    transaction = await ctx.transaction()
    await transaction.execute(WRITE, ctx.job_id, ctx.fence)
    await asyncio.sleep(pause)


def ledger_threaded(ctx: SyncContext, pause: float) -> None:
    ctx.transaction().execute(WRITE, ctx.job_id, ctx.fence)
    time.sleep(pause)


async def tiny(ctx: Context, journal: str, pause: float = 0.0, failures: int = 0) -> None:
    """Record that it ran, after failing `failures` times; each failure is recorded too."""
    await asyncio.sleep(pause)
    if ctx.attempt <= failures:
        write_line(journal, f"failed {ctx.job_id} {ctx.fence}")
        raise RuntimeError("as asked")
    write_line(journal, f"ran {ctx.job_id} {ctx.fence}")


# One by one


def _tell(word: str, ctx: Context | SyncContext, journal: str) -> None:
    write_line(journal, f"{word} {ctx.job_id} {ctx.fence} {boottime()} {os.getpid()}")


async def first_try_hangs(ctx: Context, journal: str) -> None:
    """The first attempt stays until it is stopped; the next ones return at once."""
    _tell("began", ctx, journal)
    try:
        if ctx.attempt == 1:
            await asyncio.Event().wait()
    finally:
        _tell("ended", ctx, journal)


async def gated(ctx: Context, journal: str, gate: str, gates: int = 1) -> None:
    """The first attempts, as many as there are gates, each stay until a file opens theirs: `gate.1`, `gate.2` …"""
    _tell("began", ctx, journal)
    mine = f"{gate}.{ctx.attempt}"
    while ctx.attempt <= gates and not os.access(mine, os.F_OK):  # noqa: ASYNC110 - another process opens it
        await asyncio.sleep(0.005)
    _tell("ended", ctx, journal)


async def gated_ledger(ctx: Context, journal: str, gate: str, gates: int = 1) -> None:
    """Write a row, then behave like `gated`."""
    await ledger(ctx, 0.0)
    await gated(ctx, journal, gate, gates)


async def gated_progress(ctx: Context, journal: str, gate: str, gates: int = 1) -> None:
    """Like `gated`; at its end, stopped or not, write progress and record whether that succeeded."""
    try:
        await gated(ctx, journal, gate, gates)
    finally:
        _tell("noted" if await _note(ctx) else "refused", ctx, journal)


async def _note(ctx: Context) -> bool:
    """Return true if the database accepted it. Being stopped meanwhile does not keep it from reading the answer."""
    asking = asyncio.ensure_future(ctx.progress(ctx.fence))
    while not asking.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([asking])
    if isinstance(asking.exception(), LeaseLost):
        return False
    asking.result()
    return True


def threaded_watch(ctx: SyncContext, journal: str) -> None:
    """A thread whose first attempt stays until it is asked to stop."""
    _tell("began", ctx, journal)
    while ctx.attempt == 1 and not ctx.stopping:
        time.sleep(0.005)
    _tell("ended", ctx, journal)
