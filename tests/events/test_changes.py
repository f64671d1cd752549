"""Hints of changes: they come with a commit, and many of them are one message."""

from __future__ import annotations

import asyncio

from hanbeon import App
from hanbeon.domain.event_cursor import EventPlace
from hanbeon.events import changes
from hanbeon.events.changes import ChangeFollower
from hanbeon.events.follower import Delivered


async def test_many_changes_are_one_message() -> None:
    follower = ChangeFollower(EventPlace("a", 0), lambda: Delivered(1, "changed", b"{}"))
    for _ in range(100):
        follower.changed.set()
    assert (await follower.next()).type == "changed"
    assert not follower.changed.is_set()
    loop = asyncio.get_running_loop()
    given_at = loop.time()
    follower.changed.set()
    await follower.next()
    assert loop.time() - given_at > changes.EVERY_SECONDS * 0.9


async def test_hint_comes_with_a_commit(app: App) -> None:
    @app.task(name="report")
    async def report() -> None: ...

    with await app.engine.changes(None) as follower:  # type: ignore[arg-type]  # it needs no broadcast
        waiting = asyncio.create_task(follower.next())
        await app.enqueue(report)
        async with asyncio.timeout(60):
            assert (await waiting).type == "changed"
