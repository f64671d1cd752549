"""Schedules with equal definitions are decided together, and each still by its own jitter and state."""

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hanbeon.domain.events import Event
from hanbeon.domain.timing.fire_times import jitter_of
from hanbeon.service.verify import render
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.fast.bulk import WORTH_IT
from hanbeon.store.operations import cancel
from hanbeon.store.rows import Row
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules.fire_rows import Firing, fire_due
from hanbeon.surfaces.verify import verify
from tests.storm.moments import rows_of
from tests.surfaces.schedules.schedule_kit import Timetable

JITTER_US = 600_000_000
TASKS = ("report", "hold", "fail")
OWN_COLUMNS = {
    "job": ("seq", "id", "idempotency_key", "unique_key", "digest"),
    "execution": ("job", "schedule_id"),
    "fire": ("schedule_id", "execution_id"),
}
"""In which the rows of equal fires differ."""


async def test_each_has_its_own_jitter(timetable: Timetable) -> None:
    """The last fires of each are delayed until their jitter has passed."""
    made = [await timetable.make(jitter="10m", args={"day": "alike"}) for _ in range(8)]
    began = timetable.kit.clock.now_us()
    await timetable.pass_by(900)
    now = timetable.kit.clock.now_us()
    for each in made:
        fires = [at for at in range(began // 60_000_000 * 60_000_000, now + 1, 60_000_000) if at > began]
        while fires and fires[-1] + jitter_of(each.id, fires[-1], JITTER_US) > now:
            fires.pop()
        decided = (await timetable.schedules.fires(each.id, limit=1_000)).items
        recorded = [
            round(dt.datetime.fromisoformat(fire.fire_at).timestamp() * 1_000_000) for fire in reversed(decided)
        ]
        assert recorded == fires


async def test_one_that_makes_no_execution_leaves_the_others_theirs(timetable: Timetable) -> None:
    """An operator retries an old execution just after its task was found to be free."""
    made = {task: await timetable.make("0 * * * *", task_id=task) for task in TASKS}
    old = await timetable.schedules.run("hold")
    await timetable.schedules.cancel(old.execution_id)
    await timetable.kit.advance(3_600)
    store = timetable.kit.app.store

    async def step(tx: Tx) -> Firing:
        meddled = _Meddled(tx, "unfinished_executions", lambda: cancel.requeue(tx, store.lanes, old.execution_id))
        return await fire_due(meddled, store.lanes, lambda: str(uuid.uuid4()), 60_000_000, 100)

    fired = await store.write(step)
    assert fired.outcomes == {"created": 2, "skipped": 1}
    (skipped,) = (await timetable.schedules.fires(made["hold"].id)).items
    assert (skipped.outcome.value, skipped.reason, skipped.execution_id) == ("skipped", "overlap", None)
    for task in ("report", "fail"):
        (fire,) = (await timetable.schedules.fires(made[task].id)).items
        (execution,) = await timetable.executions(schedule=made[task].id)
        assert (execution.execution_id, execution.task_id) == (fire.execution_id, task)
    report = await verify(store)
    assert report.sound, render(report)


async def test_many_fires_meet_a_retried_execution(timetable: Timetable) -> None:
    """Many are copied where the database has COPY, which cannot skip the one whose key was just taken."""
    many = [await timetable.make("0 * * * *", task_id="report", overlap="allow") for _ in range(WORTH_IT)]
    held = await timetable.make("0 * * * *", task_id="hold")
    old = await timetable.schedules.run("hold")
    await timetable.schedules.cancel(old.execution_id)
    await timetable.kit.advance(3_600)
    store = timetable.kit.app.store
    copied = []

    async def step(tx: Tx) -> Firing:
        copied.append(tx.copy is not None)
        meddled = _Meddled(tx, "unfinished_executions", lambda: cancel.requeue(tx, store.lanes, old.execution_id))
        return await fire_due(meddled, store.lanes, lambda: str(uuid.uuid4()), 60_000_000, 1_000)

    fired = await store.write(step)
    assert copied == ([True, False] if isinstance(store.database, PostgresDatabase) else [False])
    assert fired.outcomes == {"created": len(many), "skipped": 1}
    (skipped,) = (await timetable.schedules.fires(held.id)).items
    assert (skipped.outcome.value, skipped.reason, skipped.execution_id) == ("skipped", "overlap", None)
    report = await verify(store)
    assert report.sound, render(report)


async def test_copied_rows_are_like_inserted_ones(timetable: Timetable) -> None:
    """Of one step with many fires and one with few, at the same instant."""
    for _ in range(WORTH_IT + 3):
        await timetable.make("0 * * * *", task_id="report", overlap="allow")
    await timetable.kit.advance(3_600)
    store = timetable.kit.app.store
    step = partial(fire_due, lanes=store.lanes, new_id=lambda: str(uuid.uuid4()), grace_us=60_000_000, limit=WORTH_IT)
    assert [(await store.write(step)).outcomes for _ in range(2)] == [{"created": WORTH_IT}, {"created": 3}]
    for table, own in OWN_COLUMNS.items():
        rows = await rows_of(store, f"SELECT * FROM hanbeon.{table}")
        alike = {tuple(row[name] for name in _names(row) if name not in own) for row in rows}
        assert (len(rows), len(alike)) == (WORTH_IT + 3, 1)
    report = await verify(store)
    assert report.sound, render(report)


def _names(row: Any) -> list[str]:
    return list(row.names if isinstance(row, Row) else row.keys())


class _Meddled:
    """A transaction in which something else happens right after a statement."""

    def __init__(self, tx: Tx, name: str, act: Any) -> None:
        self._tx, self._name, self._act = tx, name, act
        self.tracing, self.has_round_trips, self.copy = tx.tracing, tx.has_round_trips, tx.copy
        self.fast = tx.fast

    async def fetch(self, name: str, *args: Any) -> Sequence[Any]:
        rows = await self._tx.fetch(name, *args)
        if name == self._name:
            await self._act()
        return rows

    def emit(self, *events: Event) -> None:
        self._tx.emit(*events)

    def count_moves(self, count: int) -> None:
        self._tx.count_moves(count)

    @property
    def moves(self) -> int:
        return self._tx.moves

    def expect(self, jobs: int) -> None:
        self._tx.expect(jobs)

    def wake(self, *hints: str) -> None:
        self._tx.wake(*hints)

    def after_commit(self, callback: Callable[[], None]) -> None:
        self._tx.after_commit(callback)
