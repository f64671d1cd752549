"""Hints that travel with a statement of PostgreSQL: none is lost, and few need a statement of their own."""

import math
from collections.abc import Iterable
from typing import Any, cast

import pytest

from hanbeon.store.database.notify import PostgresNotifier
from hanbeon.store.database.postgres import PostgresDatabase
from tests.store.world import World, new_job


class Notified:
    """A database that records what it is told."""

    def __init__(self) -> None:
        self.hints: list[set[str]] = []

    async def notify(self, hints: Iterable[str]) -> None:
        self.hints.append(set(hints))


def notifier_of(database: Notified) -> Any:
    return PostgresNotifier(cast(PostgresDatabase, database))


async def test_a_statement_carries_the_hints_that_wait() -> None:
    database = Notified()
    notifier = notifier_of(database)
    assert notifier.piggyback(("work", "event")) == "event work"
    notifier._quiet_until = math.inf  # However slow the machine is, one was just sent.
    assert notifier.piggyback(("work", "event")) is None
    notifier.send(("work", "later"))
    notifier._quiet_until = 0.0
    assert notifier.piggyback(("work", "event")) == "event later work"
    await notifier._sender
    assert database.hints == []


async def test_hints_that_nothing_carries_are_sent() -> None:
    database = Notified()
    notifier = notifier_of(database)
    assert notifier.piggyback(("work",)) == "work"
    notifier.send(("work", "event"))
    await notifier._sender
    assert database.hints == [{"work", "event"}]


async def test_hints_are_sent_if_the_statement_creates_nothing(
    postgres_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, job = postgres_world.store, new_job()
    await store.enqueue([job])
    sent: list[set[str]] = []
    monkeypatch.setattr(store.notifier, "piggyback", lambda hints: "event later work")
    monkeypatch.setattr(store.notifier, "send", lambda hints: sent.append(set(hints)))
    assert await store.enqueue_one(job) is None
    assert sent == [{"event", "later", "work"}]
