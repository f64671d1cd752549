"""Cases of workflows: saved, registered, run step by step, retried and deleted."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.errors import WorkflowNotFound, WorkflowWrongState
from hanbeon.surfaces.workflows import run_rows as workflow_runs
from hanbeon.surfaces.workflows.schemas import WorkflowRun
from hanbeon.surfaces.workflows.vocabulary import NOTICE_QUEUE, QUEUE, STEP_QUEUE
from tests.storm.lost_commits.scene import Scene

_MOST_TICKS = 12
_LATER = {"mode": "delayed", "delay_minutes": 5}
_NOW = {"mode": "immediate"}
_TARGET = "json://127.0.0.1/ops"
"""Nobody may send there: a message to it fails at once."""


def _task(name: str) -> dict[str, Any]:
    return {"type": "task", "task_id": name}


async def workflow_registration(scene: Scene) -> None:
    """An active workflow has one registered run, whatever is changed; one that is not active has none."""
    service, ids = scene.app.workflows, scene.repeatable_ids()
    steps: Any = [{"type": "wait", "seconds": 0}]
    name = scene.named("later")
    seen = []
    with scene.losing():
        await scene.surely(
            lambda: service.create(new_id=ids, name=name, steps=steps, schedule_config=_LATER, status="active")
        )
        seen.append(await _waiting(scene, ids(0)))
        await scene.surely(lambda: service.change(ids(0), schedule_config={**_LATER, "delay_minutes": 6}))
        seen.append(await _waiting(scene, ids(0)))
        await scene.surely(lambda: service.pause(ids(0)))
        seen.append(await _waiting(scene, ids(0)))
        await scene.surely(lambda: service.activate(ids(0)))
        seen.append(await _waiting(scene, ids(0)))
        await scene.surely(service.cron)
        seen.append(await _waiting(scene, ids(0)))
        await scene.surely(lambda: service.delete(ids(0)), WorkflowNotFound)
        seen.append(await _waiting(scene, ids(0)))
    assert seen == [1, 1, 0, 1, 1, 0]
    assert name not in [each.name for each in (await service.list(limit=100)).items]


async def declared_workflows(scene: Scene) -> None:
    """A declaration that is repeated after a lost answer finds the workflow that it made or changed."""
    service, name = scene.app.workflows, scene.named("declared")
    fields: dict[str, Any] = {"steps": [{"type": "wait", "seconds": 0}], "schedule_config": _LATER, "status": "active"}
    with scene.losing():
        await scene.surely(lambda: service.declare(name, fields))
        await scene.surely(lambda: service.declare(name, fields | {"steps": [{"type": "wait", "seconds": 1}]}))
    (made,) = [each for each in (await service.list(limit=100)).items if each.name == name]
    assert [step["seconds"] for step in msgspec.to_builtins(made.steps)] == [1]
    assert await _waiting(scene, made.id) == 1
    await service.delete(made.id)


async def workflow_runs_of_both_kinds(scene: Scene) -> None:
    """A registered run and one by hand; each has one job for its step, and that runs once."""
    service, store = scene.app.workflows, scene.store
    ids, by_hand = scene.repeatable_ids(), scene.new_id()
    steps: Any = [_task("quick"), {"type": "wait", "seconds": 1}]
    made = await service.create(new_id=ids, name=scene.named("both"), steps=steps, schedule_config=_NOW)
    worker = scene.app.worker()
    with scene.losing():
        await scene.surely(lambda: service.activate(made.id))
        await scene.surely(
            lambda: store.write(lambda tx: workflow_runs.add_manual(tx, store.lanes, made.id, by_hand, "{}", "t"))
        )
        await _work(scene, worker, made.id)
    await worker.stop()
    runs = await _runs(scene, made.id)
    assert [(run.status, run.retry_count) for run in runs] == [("completed", 0)] * 2
    assert by_hand in {run.run_id for run in runs}
    for run in runs:
        assert [step.status.value for step in run.steps] == ["completed"] * 2
        (job,) = await _jobs(scene, STEP_QUEUE, run.run_id)
        assert (job.state, scene.ran[job.id]) == (State.SUCCEEDED, 1)
    await service.delete(made.id)


async def failed_workflow_run(scene: Scene) -> None:
    """It fails, tells of it, is retried from its last step, and fails again."""
    service = scene.app.workflows
    steps: Any = [_task("quick"), _task("broken")]
    made = await service.create(
        name=scene.named("fails"), steps=steps, schedule_config=_NOW, notifications=[_TARGET], status="active"
    )
    worker = scene.app.worker()
    with scene.losing():
        await _work(scene, worker, made.id)
        (run,) = await _runs(scene, made.id)
        assert [(step.status.value, step.attempts) for step in run.steps] == [("completed", 1), ("failed", 1)]
        assert len(await _jobs(scene, NOTICE_QUEUE, made.id)) == 1
        await scene.advance(1)
        await scene.surely(lambda: service.retry(made.id, run), WorkflowWrongState)
        await _work(scene, worker, made.id)
    await worker.stop()
    (run,) = await _runs(scene, made.id)
    assert run.status == "failed"
    assert [(step.status.value, step.attempts) for step in run.steps] == [("completed", 1), ("failed", 1)], (
        "counted anew"
    )
    children = await _jobs(scene, STEP_QUEUE, run.run_id)
    assert sorted(job.task for job in children) == ["broken", "broken", "quick"]
    assert {scene.ran[job.id] for job in children} == {1}
    assert len(await _jobs(scene, NOTICE_QUEUE, made.id)) == 2, "one for each end"
    await service.delete(made.id)


async def cancelled_workflow_run(scene: Scene) -> None:
    """With the job of its step, which has not begun."""
    service = scene.app.workflows
    await scene.app.pause(STEP_QUEUE)
    made = await service.create(
        name=scene.named("cancelled"), steps=[_task("quick")], schedule_config=_NOW, status="active"
    )
    worker = scene.app.worker()
    await worker.tick()
    (run,) = await _runs(scene, made.id)
    with scene.losing():
        await scene.surely(lambda: service.cancel(made.id, run))
    await worker.stop()
    await scene.app.resume(STEP_QUEUE)
    (run,) = await _runs(scene, made.id)
    (job,) = await _jobs(scene, STEP_QUEUE, run.run_id)
    assert (run.error_code, job.state, scene.ran[job.id]) == ("CANCELLED", State.CANCELLED, 0)
    await service.delete(made.id)


async def _waiting(scene: Scene, workflow_id: str) -> int:
    """How many runs of a workflow are registered."""
    return len([job for job in await _jobs(scene, QUEUE, workflow_id) if job.state in UNFINISHED])


async def _jobs(scene: Scene, queue: str, work_item: str) -> list[JobRecord]:
    return [job for job in await scene.jobs(queue) if job.work_item == work_item]


async def _runs(scene: Scene, workflow_id: str) -> list[WorkflowRun]:
    return (await scene.app.workflows.runs(workflow_id)).items


async def _work(scene: Scene, worker: Any, workflow_id: str) -> None:
    """Tick, and let time pass, until every run of the workflow has ended."""
    for _ in range(_MOST_TICKS):
        await scene.surely(worker.tick)
        if not await _waiting(scene, workflow_id):
            return
        await scene.advance(2)
    raise AssertionError(f"unfinished after {_MOST_TICKS} ticks: {await _runs(scene, workflow_id)}")


CASES = [
    *(workflow_registration, declared_workflows, workflow_runs_of_both_kinds, failed_workflow_run),
    cancelled_workflow_run,
]
