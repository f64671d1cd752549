"""Of many concurrent requests for the same thing one wins: manual runs, names of schedules. There are no deadlocks."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import Counter
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.domain.executions import TaskSettings
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import ExecutionUnfinished, UniqueKeyTaken, WrongState
from hanbeon.store.operations.tasks import follow, register_tasks
from hanbeon.surfaces.schedules.service import Schedules
from tests.processes.process import Process, together
from tests.storm.answers import ask_all
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, direct
from tests.storm.race import assert_no_deadlocks
from tests.storm.schedules.storm import assert_fits, storm
from tests.storm.sizes import TIMEOUT, both_sizes, part, short_on, sized

pytestmark = pytest.mark.timeout(TIMEOUT)

PROCESSES = 3
ASKS = 4  # By each process: two through Python, two over HTTP.
KINDS = {"alone": 4, "crowds": 2}


@short_on("postgres")
async def test_one_manual_run_and_one_schedule_name_win(database_url: str, share: float, tmp_path: Path) -> None:
    async with storm(database_url, Journal(tmp_path / "journal"), random.Random(1)) as run:
        schedules = Schedules(run.app)
        with together(PROCESSES, lambda _: Process("tests.storm.schedules.askers", [database_url])) as processes:
            for number in range(part(sized(25), share)):
                assert Counter(ask_all(processes, json.dumps({"run": "alone0"}))) == {201: 1, 409: PROCESSES * ASKS - 1}
                (execution,) = (await schedules.executions(status="PENDING")).items
                await schedules.cancel(execution.execution_id)
                body = {"task_id": "alone0", "cron": "@daily", "name": f"name {number}"}
                body["args"] = {"label": "", "journal": os.devnull}  # type: ignore[assignment]
                assert Counter(ask_all(processes, json.dumps({"create": body}))) == {201: 1, 409: PROCESSES * ASKS - 1}
                assert len((await schedules.list(name=f"name {number}")).items) == 1
        await assert_sound(run.app)
    await assert_no_deadlocks(database_url)


@both_sizes
async def test_manual_run_and_retried_execution_exclude_each_other(app: App, share: float) -> None:
    app.task(name="work")(_work)
    schedules = Schedules(app)
    async with app.twin() as twin:
        old = await schedules.run("work")
        await schedules.cancel(old.execution_id)
        refused: Counter[str] = Counter()
        for _ in range(part(sized(40), share)):
            made, retried = await asyncio.gather(
                schedules.run("work"), twin.retry(old.execution_id), return_exceptions=True
            )
            refusals = [type(each) for each in (made, retried) if isinstance(each, Exception)]
            assert len(refusals) == 1, (made, retried)
            assert refusals[0] in (ExecutionUnfinished, UniqueKeyTaken, WrongState), refusals
            refused[refusals[0].__name__] += 1
            (unfinished,) = (await schedules.executions(status="PENDING")).items
            await schedules.cancel(unfinished.execution_id)
    await assert_sound(app)


async def _work() -> None:
    """Never run here."""


@both_sizes
async def test_tasks_reregister_while_their_fires_run(postgres_url: str, share: float, tmp_path: Path) -> None:
    """Every instance reregisters repeatedly, as in a rolling deploy: unfinished executions follow without deadlock."""
    journal = Journal(tmp_path / "journal")
    async with storm(postgres_url, journal, random.Random(2), **KINDS) as run, AsyncExitStack() as stack:
        twins = [await stack.enter_async_context(run.app.twin()) for _ in range(3)]
        for number, twin in enumerate(twins):
            await stack.enter_async_context(twin.worker(name=f"instance {number}"))
        await run.begin(part(30, share, 8))
        await asyncio.gather(
            run.act_for(part(sized(6), share), pause=0.01), *(_register(twin, share) for twin in twins)
        )
        assert_fits(await run.end(TIMEOUT / 4), run.shared)
    await assert_no_deadlocks(postgres_url)


async def test_locked_execution_follows_its_task_later(postgres_url: str, tmp_path: Path) -> None:
    async with storm(postgres_url, Journal(tmp_path / "journal"), random.Random(1)) as run:
        made = await Schedules(run.app).run("alone0", {"label": "", "journal": os.devnull})
        store, settings = run.app.store, {"alone0": TaskSettings(timeout_us=5_000_000)}
        async with direct(postgres_url) as completing:
            async with completing.transaction():
                await completing.execute("SELECT 1 FROM hanbeon.job WHERE id = $1 FOR NO KEY UPDATE", made.execution_id)
                left = await store.write(partial(register_tasks, tasks=settings, by="another"))
            record = await store.job(made.execution_id)
            assert (left, record.timeout_us) == ([record.seq], None)
            # If that answer was lost, or its worker died, whoever registers the task next is told again.
            assert await store.write(partial(register_tasks, tasks=settings, by="another")) == left
            await store.write(partial(follow, job=record.seq))
        assert (await store.job(made.execution_id)).timeout_us == 5_000_000
        assert await store.write(partial(register_tasks, tasks=settings, by="another")) == []


async def _register(app: App, share: float) -> None:
    names = [task.name for task in app.tasks]
    for number in range(part(sized(150), share)):
        policy = RetryPolicy(max_retries=1000 + number % 2, base_us=20_000)
        order = random.sample(names, len(names))
        settings = {name: TaskSettings(policy=policy, timeout_us=(number % 3 + 60) * 1_000_000) for name in order}
        for job in await app.store.write(partial(register_tasks, tasks=settings, by="another")):
            await app.store.write(partial(follow, job=job))
        await asyncio.sleep(0.02)
