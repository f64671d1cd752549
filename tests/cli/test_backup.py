"""`hanbeon backup` and `hanbeon restore`: a copy of a moment, and what follows its return."""

import asyncio
import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from hanbeon import App, State
from hanbeon.errors import Conflict, DatabaseUnavailable, NotFound, OtherIncarnation, SchemaMissing
from hanbeon.service.backup import after_restore, back_up, restore
from hanbeon.service.verify import render
from hanbeon.store.operations.queries import attempts_of, jobs_by_id
from hanbeon.surfaces.store_parts import whole_store
from hanbeon.surfaces.verify import verify
from tests.cli.hanbeon import hanbeon


def _url(path: Path) -> str:
    return f"sqlite:///{path}"


def _left_behind(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if ".part" in path.name]


def _all_there(paths: Sequence[str | None]) -> bool:
    return all(each is not None and Path(each).exists() for each in paths)


async def test_a_backup_is_a_copy_of_one_moment(tmp_path: Path) -> None:
    """Taken while jobs are created in pairs: it has both of a pair or neither, and can be opened by itself."""
    path, copy = tmp_path / "jobs.db", tmp_path / "copy.db"
    async with App(_url(path)) as app:

        @app.task
        async def work() -> None: ...

        async def create() -> None:
            while True:
                await app.enqueue_many([work.call(), work.call()])

        await app.enqueue_many([work.call(), work.call()])
        creating = asyncio.create_task(create())
        for number in range(5):
            assert await back_up(_url(path), copy.with_name(f"{number}.db")) > 0
        creating.cancel()
        await asyncio.wait([creating])
    for number in range(5):
        found = copy.with_name(f"{number}.db")
        assert stat.S_IMODE(os.stat(found).st_mode) == 0o600
        assert not found.with_name(f"{number}.db-wal").exists()
        async with App(_url(found)) as app:
            assert (await app.counts())[State.READY] % 2 == 0
            report = await verify(app.store)
            assert report.sound, render(report, zone=app.settings.zone)
    assert not _left_behind(tmp_path)


async def test_a_backup_overwrites_only_if_forced(tmp_path: Path) -> None:
    path, copy = tmp_path / "jobs.db", tmp_path / "copy.db"
    async with App(_url(path)):
        pass
    copy.write_text("mine")
    with pytest.raises(Conflict, match="--force"):
        await back_up(_url(path), copy)
    assert copy.read_text() == "mine"
    await back_up(_url(path), copy, force=True)
    assert copy.read_bytes().startswith(b"SQLite format 3")
    with pytest.raises(NotFound, match="there is no file"):
        await back_up(_url(tmp_path / "none.db"), tmp_path / "other.db")
    assert not (tmp_path / "none.db").exists()


async def test_a_restore_begins_a_new_incarnation(tmp_path: Path) -> None:
    path, copy = tmp_path / "jobs.db", tmp_path / "copy.db"
    async with App(_url(path)) as app:
        started = asyncio.Event()

        @app.task
        async def work() -> None:
            started.set()
            await asyncio.Event().wait()

        running = await app.enqueue(work)
        async with app.worker():
            await asyncio.wait_for(started.wait(), 30)
            await back_up(_url(path), copy)
            cursor = f"{app.incarnation}:{(await app.events_after())[-1].id}"
            later = await app.enqueue(work)
        with pytest.raises(Conflict, match="open in another process"):
            await restore(_url(path), copy, whole_store)
    report = await restore(_url(path), copy, whole_store)
    assert (report.interrupted, report.recovered) == (1, 1)
    assert report.kept is not None
    async with App(_url(path)) as app, App(_url(Path(report.kept))) as old:
        assert app.incarnation == report.incarnation != old.incarnation
        assert await old.store.read(lambda tx: jobs_by_id(tx, [later.id]))
        assert not await app.store.read(lambda tx: jobs_by_id(tx, [later.id]))
        (attempt,) = await app.store.read(lambda tx: attempts_of(tx, running.id))
        assert attempt.status == "lost"
        with pytest.raises(OtherIncarnation, match="restored from a backup"):
            await app.events_after(cursor)
        assert (await verify(app.store)).sound
    assert not _left_behind(tmp_path)


async def test_restores_within_a_second_keep_each_what_they_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hanbeon.store.database.sqlite_backup.time.strftime", lambda form: "20260131T090000")
    path, copy = tmp_path / "jobs.db", tmp_path / "copy.db"
    async with App(_url(path)):
        await back_up(_url(path), copy)
    kept = [(await restore(_url(path), copy, whole_store)).kept for _ in range(3)]
    first = f"{path}.replaced-20260131T090000"
    assert kept == [first, f"{first}-2", f"{first}-3"]
    assert _all_there(kept)


async def test_a_restore_refuses_what_is_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    async with App(_url(path)) as app:
        incarnation = app.incarnation
    damaged, empty, text = tmp_path / "damaged.db", tmp_path / "empty.db", tmp_path / "text.db"
    await back_up(_url(path), damaged)
    with damaged.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 4))
    empty.touch()
    text.write_text("not a database, but long enough to be taken for one" * 100)
    for copy, error in (
        (damaged, DatabaseUnavailable),
        (text, DatabaseUnavailable),
        (empty, SchemaMissing),
        (tmp_path / "none.db", NotFound),
    ):
        with pytest.raises(error):
            await restore(_url(path), copy, whole_store)
    async with App(_url(path)) as app:
        assert app.incarnation == incarnation


async def test_a_restore_by_other_means_is_finished(database_url: str) -> None:
    async with App(database_url) as app:
        incarnation = app.incarnation
    report = await after_restore(whole_store(database_url))
    async with App(database_url) as app:
        assert app.incarnation == report.incarnation != incarnation


def test_postgresql_is_backed_up_by_its_own_tools(postgres_url: str) -> None:
    for command, tool in (("backup", "pg_dump"), ("restore", "pg_restore")):
        done = hanbeon(command, "--database", postgres_url)
        assert done.returncode == 0
        assert tool in done.stdout
        assert "***" in done.stdout
    done = hanbeon("restore", "--after", "--database", postgres_url)
    assert (done.returncode, done.stderr) == (0, "")
    assert "incarnation" in done.stdout


def test_commands_back_up_and_restore_a_file(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        assert hanbeon("migrate", "--database", "sqlite:///jobs.db").returncode == 0
        done = hanbeon("backup", "copy.db", "--database", "sqlite:///jobs.db")
        assert (done.returncode, done.stderr) == (0, "")
        done = hanbeon("restore", "copy.db", "--database", "sqlite:///jobs.db")
        assert (done.returncode, done.stderr) == (0, "")
        assert "incarnation" in done.stdout
        assert "the replaced file is kept as" in done.stdout
