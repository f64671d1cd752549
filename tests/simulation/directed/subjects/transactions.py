"""Transactions of users on SQLite, which hold the only write lock of the file: stopped, late, too long."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from hanbeon import Context
from hanbeon.errors import TransactionTooLong
from hanbeon.store.user_transaction import UserTransaction
from hanbeon.testing.simulation import CLIENT, Fault, FaultKind, Moment, Operation, Simulation
from hanbeon.testing.simulation.threads import pause
from tests.simulation.directed.case import Case, freeze, job, jobs, mutant, on_both
from tests.simulation.directed.rules import nothing_is_lost, states_are
from tests.simulation.workload.jobs import plain
from tests.simulation.workload.load import Book, app

_LIMIT = 5.0
_SLACK = 0.6
_SLOW_QUERY = """
WITH RECURSIVE tenths(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM tenths WHERE n < ?)
SELECT max(dawdle(0.1)) FROM tenths
"""
_SLOW_INSERT = "CREATE TEMP TRIGGER slow_insert AFTER INSERT ON hanbeon_job BEGIN SELECT dawdle(0.1); END"


def _let_dawdle(transaction: UserTransaction) -> None:
    """Let statements of the transaction take virtual time, in steps between which SQLite can be interrupted."""
    transaction.connection.create_scalar_function("dawdle", pause, 1)


@app.task(retries=0, timeout=3)
async def writes_late(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    await asyncio.sleep(seconds)
    await ctx.transaction()


@app.task(retries=0)
async def writes_slowly(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    transaction = await ctx.transaction()
    _let_dawdle(transaction)
    try:
        async with asyncio.timeout(1.0):
            await transaction.fetch(_SLOW_QUERY, round(seconds * 10))
    except TimeoutError:
        raise RuntimeError("as asked") from None


@app.task(retries=0, timeout=0.1)
async def opens(ctx: Context, seconds: float = 0.0, count: int = 1) -> None:
    await ctx.transaction()


async def write_soon(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    """Enqueue a job; it is a finding if others keep the write lock for longer than a transaction may last."""
    began = simulation.world.now
    try:
        await book.enqueue(simulation.app, [plain.call()], [1])
    finally:
        if (lasted := simulation.world.now - began) > _LIMIT + _SLACK:
            simulation.find("others can write", f"a write waited for {lasted:.2f} s")


async def enqueue_slowly(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    """Enqueue jobs in a transaction whose time ends in the middle of the statement that creates them."""
    requests = [plain.call() for _ in range(20)]
    try:
        async with simulation.app.transaction() as transaction:
            _let_dawdle(transaction)
            await transaction.execute(_SLOW_INSERT)
            await asyncio.sleep(_LIMIT - 1.0)
            await book.enqueue(simulation.app, requests, [1] * len(requests), transaction)
    except TransactionTooLong:
        for request in requests:
            book.jobs[request.id].answer = "rolled back"
    else:
        simulation.find("transactions are limited", "a transaction that took too long was committed")


_SQLITE = "store/database/sqlite.py"
_GIVE_UP = "        connection.give_up()\n"
_CLOSE = "        return connection.close()  # Closing"
_ONLY_THE_TIMER_GIVES_UP = "        if self._too_long:\n            connection.give_up()\n"
_CLOSE_AS_A_CALL = "        return asyncio.ensure_future(connection.run(connection._close))  # Closing"
_COMMANDS = {"write_soon": write_soon, "enqueue_slowly": enqueue_slowly}

CASES = (
    Case(
        "A body is stopped twice while its transaction waits for the write lock of a process that stands still",
        [jobs(0.4, job("writes_late", seconds=2.0)), jobs(1.2, job()), Operation(14.0, "write_soon")],
        [
            mutant(
                "a second cancellation skips the close of an abandoned transaction",
                (_SQLITE, _GIVE_UP, _ONLY_THE_TIMER_GIVES_UP),
                (_SQLITE, _CLOSE, _CLOSE_AS_A_CALL),
            ),
            mutant(
                "a transaction that is stopped before it began is not abandoned",
                (
                    _SQLITE,
                    '"BEGIN IMMEDIATE")\n        except BaseException:\n            await self.abandon()\n',
                    '"BEGIN IMMEDIATE")\n        except BaseException:\n',
                ),
            ),
        ],
        [freeze(1.0, CLIENT, 12.0, Moment.BEFORE_COMMIT)],
        settings={"lease": 30.0},
        commands=_COMMANDS,
        oracles=[states_are(writes_late="failed", plain="succeeded")],
        until=16.0,
    ),
    Case(
        "A body gives up a statement that lasts longer than its lease, and than a transaction may",
        [jobs(0.4, job("writes_slowly", seconds=12.0)), Operation(2.0, "write_soon")],
        [
            mutant(
                "the statement of an abandoned transaction is not interrupted",
                (_SQLITE, _GIVE_UP, _ONLY_THE_TIMER_GIVES_UP),
            ),
            mutant(
                "the end of a lease skips the close of an abandoned transaction",
                (_SQLITE, _GIVE_UP, _ONLY_THE_TIMER_GIVES_UP),
                (_SQLITE, _CLOSE, _CLOSE_AS_A_CALL),
            ),
            mutant(
                "the transaction of a body that failed is not abandoned before its end is recorded",
                (
                    "engine/runner.py",
                    "                await attempt.user_transaction.abandon()\n            return await",
                    "                pass\n            return await",
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=[states_are(writes_slowly="failed", plain="succeeded"), nothing_is_lost],
        until=16.0,
    ),
    Case(
        "Bodies are stopped while the connections of their transactions open",
        [jobs(0.4, *[job("opens") for _ in range(30)])],
        [
            mutant(
                "a connection that opens after its user was stopped is not closed",
                (
                    "store/database/sqlite_connection.py",
                    "            await self.run(self._open)\n        except BaseException:\n            await self.close()\n",
                    "            await self.run(self._open)\n        except BaseException:\n",
                ),
            )
        ],
        on_both(Fault(at=0.2, kind=FaultKind.SLOW, seconds=8.0)),
    ),
    Case(
        "The time of a transaction ends in the middle of an enqueue",
        [Operation(0.4, "enqueue_slowly"), jobs(8.0, job())],
        [
            mutant(
                "the savepoint of an interrupted enqueue raises an error of its own",
                (_SQLITE, "    with savepoint(connection.db):\n", "    with connection.db:\n"),
            ),
            mutant(
                "the limit of a transaction is not kept",
                (_SQLITE, "        self._too_long = True\n        self._let_go()\n", "        return\n"),
            ),
        ],
        commands=_COMMANDS,
    ),
)
