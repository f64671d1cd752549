"""The program that fires schedules: `python -m bench.schedule_load COMMAND [NUMBER …]`, on the database in BENCH_URL.

fire ROUNDS N: that often N schedules fall due and are seen to, and N jobs are enqueued in one call; the rates of both.
step N: so many looks at schedules of which none is due; the milliseconds of the middle one, and the statements of each.
instants N SECONDS: makes schedules that are due once, from in a while on, so many seconds apart.

It prints one line of JSON. The start of Python and the opening of the App are not timed.
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
from hanbeon.domain.schedules.history import FireOutcome
from hanbeon.domain.totals import Total
from hanbeon.engine.schedule_poller import SchedulePoller
from hanbeon.store.operations.totals import totals
from hanbeon.store.postgres import PostgresDatabase, PostgresTx
from hanbeon.surfaces.schedules.service import Schedules

_AHEAD_SECONDS = 6.0


async def _fire(rounds: int, count: int) -> dict[str, list[float]]:
    """A poller lives long, so that the first round, in which it gets to know lanes and zones, is not counted."""
    said: dict[str, list[float]] = {"made": [], "made_rate": [], "bulk_rate": []}
    trigger, database = SchedulePoller(app.store, app.settings), app.store.database
    assert isinstance(database, PostgresDatabase)
    for number in range(rounds + 1):
        async with database.connection() as connection:
            for statement in fall_due(number * count, count):
                await connection.execute(statement)
        before, began = await _created(), time.perf_counter()
        while await trigger.run_once() <= 0:
            pass
        seconds = time.perf_counter() - began
        requests, began = [noop.call(x) for x in range(count)], time.perf_counter()
        await app.enqueue_many(requests)
        bulk_seconds = time.perf_counter() - began
        if number:
            said["made"].append(await _created() - before)
            said["made_rate"].append(count / seconds)
            said["bulk_rate"].append(count / bulk_seconds)
    return said


async def _created() -> int:
    """Executions that schedules have made until now."""
    return (await app.store.read(totals)).get(Total.FIRES.of(FireOutcome.CREATED), 0)


async def _step(count: int) -> dict[str, float]:
    trigger, taken, asked = SchedulePoller(app.store, app.settings), [], 0
    fetch = PostgresTx.fetch

    async def counted(tx: PostgresTx, name: str, *args: object) -> object:
        nonlocal asked
        asked += 1
        return await fetch(tx, name, *args)

    with patch.object(PostgresTx, "fetch", counted):
        for _ in range(count):
            began = time.perf_counter()
            assert await trigger.run_once() > 0, "something is due"
            taken.append(1_000 * (time.perf_counter() - began))
    return {"ms": statistics.median(taken), "statements": asked / count}


async def _instants(count: int, every: float) -> dict[str, float]:
    """Each carries the nanosecond at which it is due, as a job of a latency run that at which it was enqueued."""
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
            said: dict[str, Any] = await _fire(int(numbers[0]), int(numbers[1]))
        elif command == "step":
            said = await _step(int(numbers[0]))
        else:
            assert command == "instants"
            said = await _instants(int(numbers[0]), float(numbers[1]))
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    run(main())
