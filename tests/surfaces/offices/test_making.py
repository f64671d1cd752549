"""What is answered when jobs are made: what the transaction that made them left, however quick a worker is."""

from typing import Any

import msgspec
import pytest
import uuid_utils

from hanbeon.domain.job import JobRecord, as_made
from hanbeon.store.operations import read
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices import making
from tests.surfaces.offices.desk import Desk


def _id() -> str:
    return str(uuid_utils.uuid7())


async def test_jobs_are_told_as_they_were_made_though_a_worker_has_been_quicker(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = desk.kit.app.store.transact

    async def quick(*args: Any) -> Any:
        answer = await commit(*args)
        monkeypatch.undo()
        await desk.kit.run_all()
        return answer

    monkeypatch.setattr(desk.kit.app.store, "transact", quick)
    first, second = await desk.make({"key": "a"}, {"depends_on": ["a"]})
    assert (first.status, second.status) == ("ready", "pending")
    assert await desk.status(first, second) == ["done", "done"]


async def test_the_answer_is_what_a_look_would_show(desk: Desk) -> None:
    done, failed, waiting = await desk.make({}, {"handler": "fail", "max_retries": 0}, {"depends_on": [], "role": "QA"})
    await desk.kit.run_all()
    again = {"id": _id(), "title": "again"}
    before = await desk.one(**again)
    made = await desk.make(
        {"key": "a", "role": "FE", "task_id": "T", "priority": 7, "urgent": True, "timeout_ms": 1_500},
        {"key": "b", "depends_on": ["c", "a", "a"], "max_retries": 9, "title": "제목", "args": {"name": "b"}},
        {"key": "c", "handler": "say"},
        {"key": "d", "depends_on": [done.id, "a"]},
        {"key": "e", "depends_on": [done.id]},
        {"key": "f", "depends_on": [failed.id, waiting.id]},
        {"key": "g", "depends_on": [failed.id], "on_dependency_failure": "fail"},
        {"key": "h", "depends_on": ["g"]},
        {"key": "i", "depends_on": [before.id, "a"]},
        again,
    )
    statuses = ["ready", "pending", "ready", "pending", "ready", "pending", "failed", "failed", "pending", "ready"]
    assert [job.status.value for job in made] == statuses
    looked = {job.id: job for job in (await desk.offices.jobs(desk.id)).items}
    assert made == [looked[job.id] for job in made]


async def test_a_record_of_what_was_made_is_the_one_that_is_read_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[JobRecord] = []

    def noting(*args: Any, **more: Any) -> JobRecord:
        told.append(as_made(*args, **more))
        return told[-1]

    monkeypatch.setattr(making, "as_made", noting)
    made = await desk.make(
        {"key": "a", "role": "FE", "task_id": "T", "priority": 7, "urgent": True, "timeout_ms": 1_500},
        {"depends_on": ["a"], "max_retries": 9, "on_dependency_failure": "fail"},
    )
    assert told == [await desk.record(job) for job in made]


async def test_what_is_made_is_not_read_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of thousands would be read row by row."""
    asked: list[str] = []
    look = read.jobs_by_id

    async def looking(tx: Tx, ids: Any) -> list[JobRecord]:
        asked.extend(ids)
        return await look(tx, ids)

    monkeypatch.setattr(read, "jobs_by_id", looking)
    await desk.make(*({"key": str(n), "depends_on": [str(n - 1)] if n else []} for n in range(100)))
    assert asked == []
    made = await desk.make({"key": "a"}, {"depends_on": [(await desk.one()).id]})
    assert asked == [made[1].id]
    assert msgspec.to_builtins(made[1])["status"] == "pending"
