"""The program that fires schedules: `python -m bench.schedule_load COMMAND [NUMBER …]`, on the database in BENCH_URL.

fire ROUNDS N: in each round, N schedules fall due and fire, and N jobs are enqueued in one call; the rates of both.
step N: poll N times with no schedule due; the median of the milliseconds, and the statements per poll.
instants N SECONDS: create N schedules that are due once, SECONDS apart, starting shortly.

It prints one line of JSON. The start of Python and of the App is not timed.
"""

from __future__ import annotations

import datetime as dt
import json
import statistics
import sys
import time
from typing import Any
from unittest.mock import patch

from bench.adapters.ours import app, noop
from bench.seed_data import fall_due
from hanbeon.cli.event_loop import run
from hanbeon.store.database.postgres import PostgresDatabase, PostgresTx
from hanbeon.store.operations.totals import totals
from hanbeon.surfaces.schedules.poller import SchedulePoller
from hanbeon.surfaces.schedules.service import Schedules
from hanbeon.surfaces.schedules.vocabulary import FIRES, FireOutcome

_AHEAD_SECONDS = 6.0


async def _fire(rounds: int, count: int) -> dict[str, list[float]]:
    """Measure the rates. A poller lives long, so the first round, which fills its caches, is not counted."""
    rates: dict[str, list[float]] = {"made": [], "made_rate": [], "bulk_rate": []}
    poller, database = SchedulePoller(app.store, app.settings), app.store.database
    assert isinstance(database, PostgresDatabase)
    for number in range(rounds + 1):
        async with database.connection() as connection:
            for statement in fall_due(number * count, count):
                await connection.execute(statement)
        before, began = await _created(), time.perf_counter()
        while await poller.run_once() <= 0:
            pass
        seconds = time.perf_counter() - began
        requests, began = [noop.call(x) for x in range(count)], time.perf_counter()
        await app.enqueue_many(requests)
        bulk_seconds = time.perf_counter() - began
        if number:
            rates["made"].append(await _created() - before)
            rates["made_rate"].append(count / seconds)
            rates["bulk_rate"].append(count / bulk_seconds)
    return rates


async def _created() -> int:
    """Return the number of executions that schedules have created so far."""
    return (await app.store.read(totals)).get(FIRES.of(FireOutcome.CREATED), 0)


async def _step(count: int) -> dict[str, float]:
    poller, taken, statements = SchedulePoller(app.store, app.settings), [], 0
    fetch = PostgresTx.fetch

    async def counted(tx: PostgresTx, name: str, *args: object) -> object:
        nonlocal statements
        statements += 1
        return await fetch(tx, name, *args)

    with patch.object(PostgresTx, "fetch", counted):
        for _ in range(count):
            began = time.perf_counter()
            assert await poller.run_once() > 0, "something is due"
            taken.append(1_000 * (time.perf_counter() - began))
    return {"ms": statistics.median(taken), "statements": statements / count}


async def _instants(count: int, every: float) -> dict[str, float]:
    """Create schedules whose argument is the nanosecond at which they are due; in a latency run it is the enqueue."""
    schedules, first = Schedules(app), time.time() + _AHEAD_SECONDS + count * 0.01
    for number in range(count):
        due_ms = round((first + number * every) * 1_000)
        run_at = dt.datetime.fromtimestamp(due_ms / 1_000, dt.UTC).isoformat(timespec="milliseconds")
        body: Any = {"task": noop.name, "run_at": run_at, "args": {"x": due_ms * 1_000_000}, "overlap": "allow"}
        await schedules.create(**body)
    return {"in_time": float(time.time() < first)}


async def main() -> None:
    command, *numbers = sys.argv[1:]
    async with app:
        if command == "fire":
            report: dict[str, Any] = await _fire(int(numbers[0]), int(numbers[1]))
        elif command == "step":
            report = await _step(int(numbers[0]))
        else:
            assert command == "instants"
            report = await _instants(int(numbers[0]), float(numbers[1]))
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    run(main())
