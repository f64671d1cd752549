"""A page of a search costs the same however many jobs there are: blocks on PostgreSQL, steps on SQLite."""

import random
from functools import partial

import apsw
import asyncpg
import pytest

from hanbeon.clock import SystemClock
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.store.backends import open_store
from hanbeon.store.dialect import Postgres, Sqlite
from hanbeon.store.operations import job_search
from hanbeon.store.operations.job_indexes import JobSearch
from hanbeon.store.operations.job_search import search_jobs
from hanbeon.store.store import Store
from hanbeon.surfaces.engine.schemas import JobFilter
from hanbeon.surfaces.store_parts import migrate
from tests.databases.postgres import PostgresServer
from tests.store.job_table import BEGIN, PAIRS, RARE, SEARCHES, SECOND, CountedTx, as_tx, fill
from tests.store.sqlite_steps import Steps

FEW, MANY, VERY_MANY = 5_000, 60_000, 500_000
LIMIT = 20
TIMES = 3
NOT_BY_INDEX = {"own", "text"}
"""Bounded by the number of jobs that a page looks at."""


def _searches() -> list[JobSearch]:
    return [search for searches in SEARCHES.values() for search in searches] + PAIRS


def test_every_filter_has_a_search_with_a_measured_cost() -> None:
    assert set(JobFilter.__struct_fields__) == {*SEARCHES, *NOT_BY_INDEX}


@pytest.mark.parametrize("many", [MANY, pytest.param(VERY_MANY, marks=pytest.mark.slow)])
async def test_postgres_search_cost_is_constant(postgres_server: PostgresServer, many: int) -> None:
    costs = []
    with postgres_server.database() as url:
        await migrate(url)
        connection = await asyncpg.connect(url)
        for first, last in (1, FEW), (FEW + 1, many):
            for text in fill(Postgres, first, last):
                await connection.execute(text, timeout=600)
            await connection.execute("VACUUM ANALYZE", timeout=600)
            counted = [CountedTx(connection) for _ in _searches()]
            for search, tx in zip(_searches(), counted, strict=True):
                await search_jobs(as_tx(tx), search, None, LIMIT)
            costs.append(counted)
        await connection.close()
    found = [
        "\n  ".join([repr(search), *few.plans, "became", *more.plans])
        for search, few, more in zip(_searches(), *costs, strict=True)
        if more.blocks > TIMES * few.blocks
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("many", [MANY, pytest.param(VERY_MANY, marks=pytest.mark.slow)])
async def test_sqlite_search_cost_is_constant(sqlite_url: str, many: int) -> None:
    costs = []
    for first, last in (1, FEW), (FEW + 1, many):
        _fill_sqlite(sqlite_url, first, last)
        store = open_store(sqlite_url, SystemClock())
        await store.open()
        steps = Steps.of_reader(store)
        costs.append(
            [
                await steps.of(store.read(partial(search_jobs, search=search, cursor=None, limit=LIMIT)))
                for search in _searches()
            ]
        )
        await store.close()
    found = [
        f"{search}: {few} steps became {more}"
        for search, few, more in zip(_searches(), *costs, strict=True)
        if more > TIMES * few
    ]
    assert not found, "\n".join(found)


def _fill_sqlite(url: str, first: int, last: int) -> None:
    connection = apsw.Connection(url.removeprefix("sqlite:///"))
    with connection:
        for text in fill(Sqlite, first, last):
            connection.execute(text)
    connection.close()


async def test_search_finds_exactly_what_matches(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page, with a bound on the jobs looked at that ends many pages early."""
    monkeypatch.setattr(job_search, "LOOKED_AT_MOST", 150)
    if database_url.startswith("sqlite"):
        _fill_sqlite(database_url, 1, 900)
    else:
        connection = await asyncpg.connect(database_url)
        for text in fill(Postgres, 1, 900):
            await connection.execute(text)
        await connection.close()
    store = open_store(database_url, SystemClock())
    await store.open()
    every = await _found(store, JobSearch(), 1_000)
    assert len(every) == 900
    rng = random.Random(14)
    for search in [*_searches(), *(_any_search(rng) for _ in range(60))]:
        found = await _found(store, search, rng.choice((20, 300)))
        assert [job.seq for job in found] == [job.seq for job in every if _matches(search, job)], search
    await store.close()


async def _found(store: Store, search: JobSearch, limit: int) -> list[JobRecord]:
    jobs, cursor = [], None
    while True:
        page = await store.read(partial(search_jobs, search=search, cursor=cursor, limit=limit))
        assert len(page.jobs) <= limit
        jobs += page.jobs
        if (cursor := page.cursor) is None:
            return jobs


def _any_search(rng: random.Random) -> JobSearch:
    """A search by two to four filters."""
    values = {
        "states": tuple(rng.sample(list(State), rng.randint(1, 3))),
        "queue": rng.choice(("common", "rare")),
        "task": rng.choice(("common", "rare")),
        "role": rng.choice(("common", "rare")),
        "key": rng.choice(("rare", "common3", "i4", "u5")),
        "id": rng.choice(("0190", "01900000-0000-0000-0000-000000000")),
        "text": rng.choice(("1", "N")),
        "failure_type": rng.choice(("error", "rare")),
        "created_after": BEGIN + rng.randint(0, 20) * RARE * SECOND,
        "created_before": BEGIN + rng.randint(0, 20) * RARE * SECOND,
    }
    return JobSearch(**{name: values[name] for name in rng.sample(sorted(values), rng.randint(2, 4))})  # type: ignore[arg-type]


def _matches(search: JobSearch, job: JobRecord) -> bool:
    keys = (job.concurrency_key, job.unique_key, job.idempotency_key)
    return (
        (search.states is None or job.state in search.states)
        and search.queue in (None, job.queue)
        and search.task in (None, job.task)
        and search.role in (None, job.role)
        and search.key in (None, *keys)
        and job.id.startswith(search.id or "")
        and (search.text or "").lower() in job.args.lower()
        and search.failure_type in (None, job.failure_type)
        and (search.created_after is None or job.created_at >= search.created_after)
        and (search.created_before is None or job.created_at < search.created_before)
    )
