"""The caller's own transaction without an event loop, through every synchronous driver and wrapper."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import asyncpg
import psycopg
import pytest
from psycopg.rows import dict_row
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from hanbeon import App, State, SyncApp, Task
from hanbeon.errors import InvalidInput, JobNotFound, NotInTransaction, OtherDatabase, UniqueKeyTaken
from tests.databases.installations import Installation
from tests.databases.postgres import PostgresServer
from tests.sync.workers import working
from tests.testing.kits import CleanUrl


class Caller(NamedTuple):
    """The value passed as `transaction`, with the calls its owner makes on it."""

    transaction: Any
    execute: Callable[[str], Any]
    commit: Callable[[], Any]
    roll_back: Callable[[], Any]


@contextlib.contextmanager
def of_psycopg(url: str) -> Iterator[Caller]:
    with psycopg.connect(url) as connection:
        yield Caller(connection, connection.execute, connection.commit, connection.rollback)


@contextlib.contextmanager
def of_psycopg_with_its_own_ways(url: str) -> Iterator[Caller]:
    connection: Any = psycopg.connect(url, autocommit=True, row_factory=dict_row, cursor_factory=psycopg.ClientCursor)
    with connection:
        connection.execute("BEGIN")
        end = connection.execute
        yield Caller(connection, connection.execute, lambda: end("COMMIT"), lambda: end("ROLLBACK"))


def _of_sqlalchemy(wrapper: str) -> Callable[[str], contextlib.AbstractContextManager[Caller]]:
    @contextlib.contextmanager
    def of_sqlalchemy(url: str) -> Iterator[Caller]:
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        opened: Any
        if wrapper == "connection":
            opened = engine.connect()
        elif wrapper == "session":
            opened = Session(engine)
        else:
            opened = scoped_session(sessionmaker(engine))
        yield Caller(opened, lambda sql: opened.execute(text(sql)), opened.commit, opened.rollback)
        opened.close()
        engine.dispose()

    return of_sqlalchemy


KINDS = {
    "psycopg": of_psycopg,
    "psycopg, its own ways": of_psycopg_with_its_own_ways,
    "sqlalchemy connection": _of_sqlalchemy("connection"),
    "sqlalchemy session": _of_sqlalchemy("session"),
    "sqlalchemy scoped": _of_sqlalchemy("scoped"),
}


@pytest.fixture
async def url(postgres_installation: Installation, lasting_databases: CleanUrl) -> str:
    url = lasting_databases(postgres_installation.name, "borrow")
    connection = await asyncpg.connect(url)
    await connection.execute("DROP TABLE IF EXISTS orders; CREATE TABLE orders (number integer PRIMARY KEY)")
    await connection.close()
    return url


@pytest.fixture
def app(url: str) -> App:
    return App(url, shutdown_grace=0.2, poll=60)


@pytest.fixture
def send(app: App) -> Task[[str], str]:
    @app.task
    def send(to: str) -> str:
        return f"sent to {to}"

    return send


@pytest.fixture
def jobs(app: App) -> Iterator[SyncApp]:
    with SyncApp(app) as jobs:
        yield jobs


@pytest.fixture(params=KINDS)
def caller(request: pytest.FixtureRequest, url: str) -> Iterator[Caller]:
    with KINDS[request.param](url) as caller:
        yield caller


Send = Task[[str], str]


def test_the_job_runs_once_its_caller_has_committed(app: App, jobs: SyncApp, send: Send, caller: Caller) -> None:
    with working(app):
        caller.execute("INSERT INTO orders VALUES (1)")
        job = jobs.enqueue(send.call("Ada"), queue="new", transaction=caller.transaction)
        with pytest.raises(JobNotFound):
            job.state()
        caller.commit()
        assert job.result(timeout=30) == "sent to Ada"


def test_nothing_is_left_when_its_caller_rolls_back(jobs: SyncApp, send: Send, caller: Caller) -> None:
    made = jobs.enqueue_many([send.call("a"), send.call("b")], transaction=caller.transaction)
    caller.roll_back()
    assert jobs.jobs() == []
    assert jobs.events_after() == []
    with pytest.raises(JobNotFound):
        made[0].state()


def test_a_refusal_leaves_the_transaction_usable(jobs: SyncApp, send: Send, caller: Caller) -> None:
    jobs.enqueue(send.call("a"), unique_key="u", delay=60)
    with pytest.raises(UniqueKeyTaken):
        jobs.enqueue_many([send.call("b"), send.call("c").set(unique_key="u")], transaction=caller.transaction)
    caller.execute("INSERT INTO orders VALUES (1)")
    jobs.enqueue(send.call("d"), transaction=caller.transaction)
    caller.commit()
    assert jobs.counts()[State.READY] == 1


def test_rejects_unusable_transactions(jobs: SyncApp, send: Send, url: str, postgres_server: PostgresServer) -> None:
    with psycopg.connect(url, autocommit=True) as idle, pytest.raises(NotInTransaction):
        jobs.enqueue(send.call("a"), transaction=idle)
    with postgres_server.database() as other, psycopg.connect(other) as stranger, pytest.raises(OtherDatabase):
        jobs.enqueue(send.call("a"), transaction=stranger)
    engine = create_engine("sqlite://")
    with engine.connect() as connection, pytest.raises(InvalidInput, match=r"postgresql\+psycopg://"):
        jobs.enqueue(send.call("a"), transaction=connection)
    engine.dispose()
    with pytest.raises(InvalidInput, match="must be a transaction"):
        jobs.enqueue(send.call("a"), transaction=threading.Lock())
    assert jobs.jobs() == []


async def test_an_asynchronous_one_is_refused(app: App, send: Send, url: str) -> None:
    from hanbeon.store.external.connections import sync_caller_of

    connection = await asyncpg.connect(url)
    with pytest.raises(InvalidInput, match=r"await app\.enqueue"):
        sync_caller_of(connection)
    await connection.close()
