"""A host that dies in the middle of a transaction closes no connection: its session lives on, and must block nobody."""

from __future__ import annotations

import pytest

from hanbeon.domain.lifecycle import State
from tests.databases.proxy import Ask, fault_proxy
from tests.storm.fleet import fleet, opened
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, direct, enqueue, until_line, until_state
from tests.storm.sizes import TIMEOUT

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]


async def test_a_job_whose_row_a_dead_host_left_locked_is_recovered(postgres_url: str, journal: Journal) -> None:
    async with opened(postgres_url) as app:
        async with fault_proxy(postgres_url) as proxy:
            job_id = await enqueue(app, "first_try_hangs", journal=str(journal))
            with fleet(postgres_url) as workers:
                dying = workers.start(url=proxy.url)
                await until_line(journal, "began", job_id, 1)
                proxy.silence_when(_commits_what_it_locked(postgres_url, "hanbeon.job"))
                await proxy.silenced.wait()
                workers.kill(dying)
                workers.start()
                await until_state(app, job_id, State.SUCCEEDED)
        await assert_sound(app)


async def test_a_limited_queue_that_a_dead_host_left_locked_goes_on(postgres_url: str) -> None:
    async with opened(postgres_url) as app:
        async with fault_proxy(postgres_url) as proxy:
            await app.configure_queue("narrow", max_concurrent=1)
            with fleet(postgres_url) as workers:
                dying = workers.start(url=proxy.url)
                await workers.ready()
                proxy.silence_when(_commits_what_it_locked(postgres_url, "hanbeon.queue"))
                job_id = await enqueue(app, "quick", options={"queue": "narrow"})
                await proxy.silenced.wait()
                workers.kill(dying)
                workers.start()
                await until_state(app, job_id, State.SUCCEEDED)
        await assert_sound(app)


async def test_user_transaction_has_tcp_keepalives_on_the_server(postgres_url: str) -> None:
    async with opened(postgres_url) as app:
        transaction = await app.store.begin()
        try:
            asked = [
                (await transaction.fetch(f"SHOW tcp_keepalives_{each}"))[0][0] for each in ("idle", "interval", "count")
            ]
        finally:
            await transaction.abandon()
        idle, interval, count = map(int, asked)
        assert idle + interval * count <= 30


def _commits_what_it_locked(url: str, table: str) -> Ask:
    """Detect a commit in transit that will release the row locks of this table."""

    async def ask(data: bytes, port: int) -> bool:
        if b"COMMIT" not in data:
            return False
        async with direct(url) as connection:
            return bool(await connection.fetch(_LOCKED, table, port))

    return ask


_LOCKED = """
SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE relation = $1::text::regclass AND mode IN ('RowShareLock', 'RowExclusiveLock') AND client_port = $2
"""
