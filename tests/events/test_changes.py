"""Hints of changes: they come after a commit, many of them are one message, and nobody is woken for each."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.event_cursor import EventPosition
from hanbeon.errors import DatabaseUnavailable
from hanbeon.events import changes
from hanbeon.events.broadcast import Broadcast
from hanbeon.events.changes import ChangeFollower
from hanbeon.events.follower import Delivered
from hanbeon.store.operations.events import last_change


async def test_many_changes_are_one_message() -> None:
    follower = ChangeFollower(EventPosition("a", 0), lambda: Delivered(1, "changed", b"{}"))
    for _ in range(100):
        follower.changed.set()
    assert (await follower.next()).type == "changed"
    assert not follower.changed.is_set()
    loop = asyncio.get_running_loop()
    given_at = loop.time()
    follower.changed.set()
    await follower.next()
    assert loop.time() - given_at > changes.EVERY_SECONDS * 0.9


async def test_hint_comes_after_a_commit(app: App) -> None:
    @app.task(name="report")
    async def report() -> None: ...

    with await app.engine.changes(Broadcast(app.store, app.hub)) as follower:
        waiting = asyncio.create_task(follower.next())
        await app.enqueue(report)
        async with asyncio.timeout(60):
            assert (await waiting).type == "changed"


async def test_hint_comes_for_a_commit_that_was_overtaken(app: App) -> None:
    """On PostgreSQL a transaction may commit after others whose batches have greater numbers."""

    @app.task(name="report")
    async def report() -> None: ...

    async with app.transaction() as transaction:
        await app.enqueue(report, transaction=transaction)
        if app.store.database.dialect.name == "postgresql":
            await app.enqueue(report)
            await app.store.number_events()
        before = await app.store.read(last_change)
    await app.store.number_events()
    assert await app.store.read(last_change) != before


async def test_changes_are_looked_for_and_wake_nobody(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """One statement for all followers each time, none without them, and no listener that every commit wakes."""

    @app.task(name="report")
    async def report() -> None: ...

    looked, database = [], app.store.database
    look = database.look

    async def counted(operation: Any) -> Any:
        looked.append(operation)
        return await look(operation)

    async def listened(heard: object) -> None:
        raise AssertionError("hints of changes must not listen for wake-ups")

    monkeypatch.setattr(changes, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(database, "look", counted)
    monkeypatch.setattr(app.store.notifier, "listen", listened)
    broadcast = Broadcast(app.store, app.hub)
    with contextlib.ExitStack() as following:
        followers = [following.enter_context(await app.engine.changes(broadcast)) for _ in range(20)]
        assert len(looked) == 1
        waiting = [asyncio.create_task(each.next()) for each in followers]
        await app.enqueue(report)
        async with asyncio.timeout(60):
            await asyncio.gather(*waiting)
    count = len(looked)
    await asyncio.sleep(5 * changes.LOOK_SECONDS)
    assert len(looked) == count


async def test_database_that_comes_back_is_a_change(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    database = app.store.database
    look, failed = database.look, asyncio.Event()

    async def refused(operation: object) -> None:
        failed.set()
        raise DatabaseUnavailable("it is away")

    monkeypatch.setattr(changes, "LOOK_SECONDS", 0.01)
    with await app.engine.changes(Broadcast(app.store, app.hub)) as follower:
        monkeypatch.setattr(database, "look", refused)
        async with asyncio.timeout(60):
            await failed.wait()
            monkeypatch.setattr(database, "look", look)
            assert (await follower.next()).type == "changed"
