"""A single enqueue and a batch with the same id and key at once: on PostgreSQL they take them in opposite order.

Then one of them is rolled back as a deadlock, and repeated: one job is made, and nobody hears of it.
"""

import asyncio
import contextlib
from typing import Any, cast

import asyncpg
import pytest

from hanbeon import App, Job, JobRequest
from hanbeon.domain.job import OnConflict
from hanbeon.surfaces.verify import verify
from tests.guarantees import guarantee

_ROUNDS = 15
_APPS = 3
# Ids are written before the job by a batch, and after it by a single enqueue: with a pause before each id, one has the
# key and the other the id. Deadlocks are looked for after a second by default, and each would cost the test as long.
_PAUSES = """
CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END';
CREATE TRIGGER pause BEFORE INSERT ON hanbeon.job_id FOR EACH ROW EXECUTE FUNCTION pause();
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 20', current_database()); END $$;
"""


@pytest.mark.parametrize("key", ["idempotency_key", "unique_key"])
async def test_same_id_and_key_make_one_job(postgres_url: str, key: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        connection: Any = await asyncpg.connect(postgres_url)
        stack.push_async_callback(connection.close)
        await connection.execute(_PAUSES)
        apps = [await stack.enter_async_context(App(postgres_url)) for _ in range(_APPS)]
        tasks = [app.task(name="work")(_work) for app in apps]
        await apps[0].enqueue(tasks[0].call(-1))  # Its lane exists from here on, which the single statement needs.
        for number in range(_ROUNDS):
            first = tasks[0].call(number)
            calls = []
            for app, task in zip(apps, tasks, strict=True):
                request = task.call(number).set(id=first.id, on_conflict=OnConflict.SKIP)
                request = request.set(**cast(Any, {key: f"key-{number}"}))
                calls += [_alone(app, request), _batch(app, request, task.call(-1))]
            jobs = await asyncio.gather(*calls)
            with guarantee():
                assert {job.id for job in jobs} == {first.id}
                assert sum(job.created for job in jobs) == 1
        with guarantee():
            assert await connection.fetchval("SELECT count(*) FROM hanbeon.job") == 1 + _ROUNDS * (1 + _APPS)
            assert (await verify(apps[0].store)).findings == ()


async def _work(number: int) -> None:
    raise AssertionError("nobody works here")


async def _alone(app: App, request: JobRequest[None]) -> Job[None]:
    return await app.enqueue(request)


async def _batch(app: App, request: JobRequest[None], other: JobRequest[None]) -> Job[None]:
    return (await app.enqueue_many([request, other]))[0]
