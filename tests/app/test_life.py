"""An App's life: open, closed, and nothing in between."""

from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.errors import AppNotOpen, DatabaseUnavailable, InvalidInput, SchemaMissing


async def test_a_closed_app_refuses_with_the_remedy(sqlite_url: str) -> None:
    app = App(sqlite_url)

    @app.task
    async def work() -> None: ...

    request = work.call()
    for use in (app.enqueue(request), app.jobs(), app.cancel(request.id), app.queues(), app.job(request.id).state()):
        with pytest.raises(AppNotOpen, match="the App is not open; use `async with app:`"):
            await use
    with pytest.raises(AppNotOpen):
        app.worker()
    async with app:
        await app.enqueue(request)
    with pytest.raises(AppNotOpen):
        await app.enqueue(request)


async def test_opens_again_and_finds_its_jobs(app_url: str) -> None:
    app = App(app_url)

    @app.task
    async def work() -> None: ...

    assert await app.open() is app
    assert await app.open() is app, "opening twice is opening once"
    job = await app.enqueue(work)
    await app.close()
    await app.close()
    async with app:
        assert [record.id for record in await app.jobs()] == [job.id]


async def test_postgresql_without_its_schema_says_what_to_run(empty_postgres_url: str) -> None:
    app = App(empty_postgres_url)
    with pytest.raises(SchemaMissing, match="migrate"):
        await app.open()
    assert not app.is_open
    assert await app.migrate() == [1]
    assert await app.migrate() == []
    async with app:
        assert await app.jobs() == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host/jobs", "must be sqlite:///jobs.db or postgresql://…, got 'mysql'"),
        ("sqlite://", "must name a file, for example sqlite:///jobs.db"),
        ("sqlite:///:memory:", "would not be durable"),
        ("jobs.db", "must be sqlite:///jobs.db or postgresql"),
    ],
)
async def test_a_url_that_names_no_database(url: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"database_url: .*{message}"):
        await App(url).open()


async def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    app = App(f"sqlite:///{tmp_path}/missing/jobs.db")
    with pytest.raises(DatabaseUnavailable, match="does not exist; create it first"):
        await app.open()
    assert not app.is_open


async def test_a_server_that_is_not_there() -> None:
    app = App("postgresql://nobody@127.0.0.1:1/jobs")
    with pytest.raises(DatabaseUnavailable, match="does not respond"):
        await app.open()
    assert not app.is_open
