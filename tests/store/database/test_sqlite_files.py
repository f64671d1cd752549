"""Files of a SQLite database that others move, delete, replace or read."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hanbeon import App
from hanbeon.errors import DatabaseUnavailable
from tests.server.client import serving

_OFFICE = {"name": "one"}


def _delete(path: Path) -> None:
    path.unlink()


def _move(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def _replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy.db"))
    path.with_name("copy.db").replace(path)


def _delete_log(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def _delete_index(path: Path) -> None:
    path.with_name(path.name + "-shm").unlink()


@pytest.mark.parametrize("harm", [_delete, _move, _replace, _delete_log, _delete_index])
async def test_a_lost_file_is_noticed_before_an_answer(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    path = tmp_path / "jobs.db"
    app = App(f"sqlite:///{path}")
    async with app, serving(app) as client:
        assert (await client.post("/api/offices", _OFFICE)).status == 201
        harm(path)
        for answer in (
            await client.post("/api/offices", _OFFICE),
            await client.get("/readyz"),
            await client.get("/api/offices"),
        ):
            assert (answer.status, answer.code) == (503, "database_unavailable")
            assert "was deleted, moved or replaced" in answer.json["detail"]
            assert "restart Hanbeon" in answer.json["detail"]
        assert (await client.get("/healthz")).status == 200
        with pytest.raises(DatabaseUnavailable, match="deleted, moved or replaced"):
            async with app.transaction() as tx:
                await tx.execute("DELETE FROM hanbeon_office")


async def test_a_file_put_back_is_used_again(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "jobs.db", tmp_path / "elsewhere.db"
    app = App(f"sqlite:///{path}")
    async with app, serving(app) as client:
        path.rename(elsewhere)
        assert (await client.post("/api/offices", _OFFICE)).status == 503
        elsewhere.rename(path)
        assert (await client.get("/readyz")).status == 200
        assert (await client.post("/api/offices", _OFFICE)).status == 201
        assert len((await client.get("/api/offices")).json["items"]) == 1


async def test_a_commit_into_a_lost_file_is_no_success(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    async with App(f"sqlite:///{path}") as app:
        transaction = await app.store.begin()
        await transaction.execute("CREATE TABLE mine (n)")
        path.unlink()
        with pytest.raises(DatabaseUnavailable, match="deleted, moved or replaced"):
            await app.store.commit(transaction)


async def test_a_link_that_is_pointed_elsewhere_is_noticed(tmp_path: Path) -> None:
    link = tmp_path / "jobs.db"
    link.symlink_to(tmp_path / "first.db")
    async with App(f"sqlite:///{link}") as app:
        await app.queues()
        link.unlink()
        (tmp_path / "second.db").touch()
        link.symlink_to(tmp_path / "second.db")
        with pytest.raises(DatabaseUnavailable, match="deleted, moved or replaced"):
            await app.queues()
        with pytest.raises(DatabaseUnavailable, match="deleted, moved or replaced"):
            async with app.transaction() as tx:
                await tx.execute("CREATE TABLE mine (n)")


async def test_a_process_may_leave_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with App("sqlite:///jobs.db") as app:
        (tmp_path / "deeper").mkdir()
        monkeypatch.chdir(tmp_path / "deeper")
        await app.queues()
        async with app.transaction() as tx:
            await tx.execute("CREATE TABLE mine (n)")
    assert not list((tmp_path / "deeper").iterdir())


def _modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in folder.glob("jobs.db*") if path.is_file()}


async def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with capture_logs() as logs:
            async with App(f"sqlite:///{tmp_path / 'jobs.db'}") as app:
                async with app.transaction() as tx:
                    await tx.execute("CREATE TABLE mine (n)")
                modes = _modes(tmp_path)
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("jobs.db", "jobs.db-wal", "jobs.db-shm"), "0o600")
    assert not [entry for entry in logs if entry["event"] == "database_readable_by_others"]


async def test_old_files_that_others_read_are_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    path.touch()
    path.chmod(0o644)
    with capture_logs() as logs:
        async with App(f"sqlite:///{path}"):
            pass
    warned = [entry for entry in logs if entry["event"] == "database_readable_by_others"]
    assert [(Path(entry["file"]).name, entry["mode"]) for entry in warned] == [
        ("jobs.db", "0644"),
        ("jobs.db-wal", "0644"),
        ("jobs.db-shm", "0644"),
    ]
    assert "chmod 600" in warned[0]["why"]


async def test_links_in_a_circle_are_an_unavailable_database(tmp_path: Path) -> None:
    (tmp_path / "a.db").symlink_to("b.db")
    (tmp_path / "b.db").symlink_to("a.db")
    with pytest.raises(DatabaseUnavailable, match="symbolic links"):
        async with App(f"sqlite:///{tmp_path}/a.db"):
            pass
