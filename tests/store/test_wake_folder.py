"""The folder of the wake sockets, when somebody else has made it first."""

import asyncio
import contextlib
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hanbeon.store.database.notify import SqliteNotifier
from hanbeon.store.tx import HINTS

_WITHIN_SECONDS = 30.0


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder whose path is short enough for sockets beside the file."""
    with tempfile.TemporaryDirectory(prefix="h") as name:
        yield Path(name)


@contextlib.asynccontextmanager
async def _listening(path: Path) -> AsyncIterator[tuple[SqliteNotifier, asyncio.Queue[set[str]]]]:
    notifier, heard = SqliteNotifier(path), asyncio.Queue[set[str]]()
    listener = asyncio.create_task(notifier.listen(heard.put_nowait))
    try:
        assert await asyncio.wait_for(heard.get(), _WITHIN_SECONDS) == set(HINTS)
        yield notifier, heard
    finally:
        listener.cancel()
        await asyncio.wait([listener])


def _open_to_all(folder: Path, _: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def _of_another_user(folder: Path, _: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, -1)


def _link(folder: Path, elsewhere: Path) -> None:
    folder.symlink_to(elsewhere)


@pytest.mark.parametrize("make", [_open_to_all, _of_another_user, _link])
async def test_a_folder_of_others_is_not_taken(place: Path, make: object) -> None:
    if make is _of_another_user and os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    assert callable(make)
    elsewhere = place / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder = place / "jobs.db-wake"
    make(folder, elsewhere)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
        dead.bind(str(folder / "dead"))
    with capture_logs() as logs:
        async with _listening(place / "jobs.db") as (notifier, heard):
            assert [path.name for path in folder.iterdir()] == ["dead"], "bound in the folder of another"
            notifier.send({"work"})
            assert await asyncio.wait_for(heard.get(), _WITHIN_SECONDS) == {"work"}, "its own hints got lost"
    assert (folder / "dead").exists(), "deleted what is not ours"
    assert "must be a folder that belongs to this user alone" in next(e["why"] for e in logs if e["event"] == "polling")


async def test_a_folder_of_ours_is_shared(place: Path) -> None:
    async with _listening(place / "jobs.db") as (_, heard):
        assert (place / "jobs.db-wake").stat().st_mode & 0o777 == 0o700
        SqliteNotifier(place / "jobs.db").send({"work"})
        assert await asyncio.wait_for(heard.get(), _WITHIN_SECONDS) == {"work"}
    assert not (place / "jobs.db-wake").exists()
