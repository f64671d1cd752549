"""Databases that refuse for a moment while workers and an API use them: nothing is lost, doubled, stuck or failed."""

from __future__ import annotations

import asyncio
import random

import pytest

from hanbeon import App, Context
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.store.operations.cancel import lock_one
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices.service import Offices
from tests.databases.locks import somebody_waits
from tests.databases.postgres import PostgresServer
from tests.databases.refusals import POSTGRES, Refusing, as_user, create_on, full_disk, locked_file, small_disk
from tests.guarantees import guarantee
from tests.server.client import Client, serving
from tests.store.world import new_id
from tests.storm.fleet import Fleet, fleet, opened
from tests.storm.moments import assert_sound, direct, rows_of, until
from tests.storm.sizes import SEEDS, TIMEOUT, both_sizes, part, sized
from tests.storm.workload import Workload

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]

_KINDS = {"quick": 3, "ledger": 3, "ledger_threaded": 1, "parent": 2, "ledger_parent": 1, "dependent": 1}
# Not so short that a refusal could cost a lease.
_PATIENT = {"lease": 60.0, "poll": 1.0}
_FAILED = "SELECT j.task, a.failure_type FROM hanbeon.attempt AS a JOIN hanbeon.jobs AS j ON j.seq = a.job"


class Requests:
    """Jobs sent to an office under ids of the client, and again until they are acknowledged. No worker runs them."""

    def __init__(self, client: Client, office: str) -> None:
        self._client, self._path = client, f"/api/offices/{office}/jobs"
        self._unanswered: set[str] = set()
        self.acknowledged: set[str] = set()

    async def send(self) -> int:
        """Send one job, and return the status."""
        return await self._send(new_id())

    async def _send(self, job: str) -> int:
        answer = await self._client.post(self._path, {"jobs": [{"id": job, "title": "x" * 200}]})
        if answer.status == 201:
            self.acknowledged.add(job)
        else:
            assert (answer.status, answer.headers["retry-after"]) == (503, "1"), answer
            assert answer.code == "database_unavailable"
            self._unanswered.add(job)
        return answer.status

    async def repeat(self) -> None:
        """Send again what was refused, until nothing is."""

        async def ask() -> bool | None:
            for job in list(self._unanswered):
                if await self._send(job) == 201:
                    self._unanswered.remove(job)
            return True if not self._unanswered else None

        await until("everything acknowledged", ask)


@both_sizes
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "name", ["read_only", *(pytest.param(each, marks=pytest.mark.slow) for each in POSTGRES if each != "read_only")]
)
async def test_postgres_that_refuses_costs_time_only(postgres_url: str, name: str, seed: int, share: float) -> None:
    async with as_user(postgres_url) as url:
        await _run(url, postgres_url, POSTGRES[name], random.Random(seed), share)


@pytest.mark.slow
async def test_full_disk_of_postgres_costs_time_only(private_postgres: PostgresServer) -> None:
    with small_disk(96) as folder:
        url = await create_on(folder, private_postgres.url("postgres"))
        await _run(url, url, full_disk(folder), random.Random(1), 1.0)
        private_postgres.down()


@pytest.mark.slow
async def test_full_disk_of_sqlite_costs_time_only() -> None:
    with small_disk(64) as folder:
        url = f"sqlite:///{folder}/hanbeon.db"
        await _run(url, url, full_disk(folder), random.Random(1), 1.0)


@pytest.mark.slow
async def test_locked_file_costs_time_only(sqlite_url: str) -> None:
    await _run(sqlite_url, sqlite_url, locked_file, random.Random(1), 0.2)


async def _run(url: str, direct_url: str, refusing: Refusing, rng: random.Random, share: float) -> None:
    async with opened(url) as app, serving(app) as client:
        work = Workload.make(app, rng, part(sized(500, 3_000), share), _KINDS)
        await work.enqueue(app)
        offices = Offices(app)
        office = await offices.create(name="asked meanwhile")
        requests = Requests(client, office.id)
        with fleet(url, settings=_PATIENT) as workers:
            workers.start(2)
            await workers.ready()
            async for _ in work.milestones(app, rng, part(sized(3, 20), share)):
                async with refusing(direct_url):
                    await _until_noticed(app, workers, requests)
                await requests.repeat()
            await work.until_done(app, others=len(requests.acknowledged))
        with guarantee():
            page = await offices.jobs(office.id, limit=1_000)
            assert sorted(job.id for job in page.items) == sorted(requests.acknowledged)
            ends = await rows_of(app.store, f"{_FAILED} WHERE a.status = 'failed'")
            assert {row["failure_type"] for row in ends} <= {"database_unavailable"}
            assert {row["task"] for row in ends} <= {"ledger", "ledger_threaded", "ledger_parent"}
        await work.assert_done_once(app)


async def _until_noticed(app: App, workers: Fleet, requests: Requests) -> None:
    """Ask until the API is refused, and wait until a worker is, if there is work left."""
    before = workers.noticed

    async def refused() -> bool | None:
        return True if await requests.send() == 503 else None

    async def noticed() -> bool | None:
        if workers.noticed > before:
            return True
        counts = await app.counts()
        return True if sum(counts[state] for state in UNFINISHED) <= len(requests.acknowledged) else None

    await until("a request is refused", refused)
    await until("a worker is refused", noticed)


async def test_transaction_that_deadlocks_at_its_end_is_done_again(postgres_url: str) -> None:
    app = App(postgres_url)
    began, go = asyncio.Event(), asyncio.Event()

    @app.task(retries=0)
    async def pay(ctx: Context) -> None:
        await (await ctx.transaction()).execute("UPDATE account SET amount = amount + 1")
        began.set()
        await go.wait()

    async with app, app.worker():
        async with app.transaction() as tx:
            await tx.execute("CREATE TABLE account (amount int)")
            await tx.execute("INSERT INTO account VALUES (0)")
        job = await app.enqueue(pay)
        await asyncio.wait_for(began.wait(), 60)
        async with direct(postgres_url) as other, other.transaction():
            # It holds the job's row and waits for the task's: the task's completion closes the circle and is chosen.
            await other.execute("SET LOCAL deadlock_timeout = '1h'")
            await other.execute("SELECT 1 FROM hanbeon.job WHERE id = $1 FOR UPDATE", job.id)
            updating = asyncio.create_task(other.execute("UPDATE account SET amount = amount + 10"))
            assert await somebody_waits(postgres_url, updating)
            go.set()
            await asyncio.wait_for(updating, 60)
        record = await job.wait(60)
        assert (record.state, record.retry_count, record.fence) == (State.SUCCEEDED, 0, 2)
        assert [row["amount"] for row in await rows_of(app.store, "SELECT amount FROM account")] == [11]
        await assert_sound(app)


async def test_write_that_is_the_victim_of_a_deadlock_is_repeated(postgres_url: str) -> None:
    """The server has rolled it back, so nothing is unknown: its caller hears nothing of it."""
    began, go, calls = asyncio.Event(), asyncio.Event(), 0

    app = App(postgres_url)

    @app.task
    async def quick() -> None: ...

    async with app:
        first, second = [await app.enqueue(quick) for _ in range(2)]

        async def lock_both(tx: Tx) -> None:
            nonlocal calls
            calls += 1
            await lock_one(tx, first.id)
            began.set()
            await go.wait()
            await lock_one(tx, second.id)

        writing = asyncio.create_task(app.store.write(lock_both))
        await asyncio.wait_for(began.wait(), 60)
        async with direct(postgres_url) as other, other.transaction():
            await other.execute("SET LOCAL deadlock_timeout = '1h'")
            await other.execute("SELECT 1 FROM hanbeon.job WHERE id = $1 FOR UPDATE", second.id)
            locking = asyncio.create_task(other.execute("SELECT 1 FROM hanbeon.job WHERE id = $1 FOR UPDATE", first.id))
            assert await somebody_waits(postgres_url, locking)
            go.set()
            await asyncio.wait_for(locking, 60)
        await asyncio.wait_for(writing, 60)
        assert calls == 2
