"""Batches of jobs, and reading them."""

from functools import partial
from typing import Any

import msgspec
import pytest
import uuid_utils

from hanbeon.errors import DependencyCycle, IdAlreadyUsed, InvalidInput, UnknownDependency
from hanbeon.surfaces.offices.schemas import Edge, JobSpec
from tests.surfaces.offices.office_kit import OfficeKit

CONTRACT = """
id key office_id task_id role title status priority urgent depends_on blocked_by retry_count timeout_ms progress result
error_message failure_type created_at started_at completed_at cancelled_at
"""


def _id() -> str:
    return str(uuid_utils.uuid7())


async def test_a_job_has_the_fields_of_the_contract(office: OfficeKit) -> None:
    job = await office.one(key="k", task_id="T-1", role="FE", title="제목", priority=-3, urgent=True)
    shown = msgspec.to_builtins(job)
    assert list(shown) == CONTRACT.split()
    assert (shown["key"], shown["task_id"], shown["role"], shown["title"]) == ("k", "T-1", "FE", "제목")
    assert (shown["priority"], shown["urgent"], shown["office_id"]) == (-3, True, office.id)
    await office.kit.run_all()
    done = await office.job(job)
    assert (done.status, done.result, done.completed_at is not None) == ("done", "", True)
    (execution,) = msgspec.to_builtins(done.executions)
    assert {"job_id", "attempt", "started_at", "timeout_at", "session_id", "status"} <= set(execution)
    assert (execution["attempt"], execution["status"]) == (1, "completed")


async def test_jobs_answer_in_the_order_of_the_batch(office: OfficeKit) -> None:
    jobs = await office.make(*({"key": str(n), "depends_on": [str(n + 1)] if n < 9 else []} for n in range(10)))
    assert [job.key for job in jobs] == [str(n) for n in range(10)]
    assert [job.depends_on for job in jobs[:-1]] == [[job.id] for job in jobs[1:]]
    assert await office.make() == []


async def test_jobs_refer_to_jobs_from_before_and_to_chosen_ids(office: OfficeKit) -> None:
    before = await office.one(key="before")
    chosen = _id()
    behind, first = await office.make({"depends_on": [chosen, before.id]}, {"id": chosen})
    assert set(behind.depends_on) == {chosen, before.id}
    assert first.id == chosen
    # Keys are names within one batch only.
    await office.refused(UnknownDependency, {"depends_on": ["before"]})


@pytest.mark.parametrize(
    ("jobs", "field"),
    [
        ([{"key": "a"}, {"key": "a"}], "jobs.key"),
        ([{"depends_on": ["nowhere"]}], "jobs[0].depends_on"),
        ([{"priority": 2**31}], "jobs[0].priority"),
        ([{"key": "\ud800"}], "jobs[0].key"),
        ([{"task_id": "\ud800"}], "jobs[0].task_id"),
        ([{"title": "\ud800"}], "jobs[0].title"),
        ([{"title": "가" * 1_500}], "jobs[0].title"),
        ([{"args": {"name": "\ud800"}}], "jobs[0].args"),
        ([{"args": {"name": 10**40}}], "jobs[0].args"),
        ([{"args": {"name": "x" * 2_000_000}}], "jobs[0].args"),
    ],
)
async def test_one_invalid_job_rejects_the_batch(office: OfficeKit, jobs: list[Any], field: str) -> None:
    refusal = await office.refused(InvalidInput, {"key": "fine"}, *jobs)
    first, _, rest = field.partition("[")
    if rest:  # A job before them in the batch.
        field = f"{first}[{int(rest[0]) + 1}{rest[1:]}"
    assert refusal.field == field


async def test_jobs_are_made_of_specs_or_mappings(office: OfficeKit) -> None:
    made = await office.offices.create_jobs(office.id, jobs=[JobSpec(key="a"), {"depends_on": ["a"]}])
    first, second = made.jobs
    assert (first.key, second.depends_on) == ("a", [first.id])
    # One that was made by hand has not been validated yet.
    refusal = await office.refused(InvalidInput, JobSpec(), JobSpec(timeout_ms=0))
    assert refusal.field == "jobs[1].timeout_ms"


async def test_a_repeated_request_finds_its_jobs(office: OfficeKit) -> None:
    ids = [_id(), _id()]
    make = partial(office.offices.create_jobs, office.id, new_id=lambda number: ids[number])
    first = await make(jobs=[{"key": "a"}, {"depends_on": ["a"]}])
    assert [job.id for job in first.jobs] == ids
    assert await make(jobs=[{"key": "a"}, {"depends_on": ["a"]}]) == first
    assert (await office.offices.stats(office.id)).ready == 1


async def test_a_job_that_waits_for_itself_is_a_cycle_of_one(office: OfficeKit) -> None:
    refusal = await office.refused(DependencyCycle, {"key": "a", "depends_on": ["a"]})
    assert isinstance(refusal, DependencyCycle)
    assert refusal.ids == ("a",)


async def test_jobs_of_another_office_are_unknown(office: OfficeKit) -> None:
    theirs = await office.one()
    await office.open()
    refusal = await office.refused(UnknownDependency, {"depends_on": [theirs.id]})
    assert "office" in str(refusal)
    unknown = await office.refused(UnknownDependency, {"key": "a"}, {"depends_on": ["a", _id()]})
    assert unknown.field == "jobs[1].depends_on"
    await office.refused(IdAlreadyUsed, {"id": theirs.id})


async def test_the_same_id_and_contents_again_are_the_same_job(office: OfficeKit) -> None:
    body = {"id": _id(), "title": "once", "args": {"name": "x"}}
    first = await office.one(**body)
    await office.kit.run_all()
    # Other sessions and another config since: it is the request that counts, not what they made of it.
    await office.offices.change(office.id, sessions={"default": "hold"})
    await office.offices.change_config(office.id, defaultTimeout=5)
    again, new = await office.make(body, {"handler": "hold"})
    assert (again.id, again.status, new.status) == (first.id, "done", "ready")
    await office.refused(IdAlreadyUsed, body | {"title": "twice"})


async def test_jobs_are_listed_by_status_role_and_task(office: OfficeKit) -> None:
    ready, failed, other = await office.make(
        {"role": "FE", "task_id": "T"}, {"handler": "fail", "max_retries": 0, "task_id": "T"}, {"role": "BE"}
    )

    async def found(**filters: Any) -> list[str]:
        return [job.id for job in (await office.offices.jobs(office.id, **filters)).items]

    assert await found() == [ready.id, failed.id, other.id]
    assert await found(role="FE") == [ready.id]
    assert await found(task_id="T") == [ready.id, failed.id]
    await office.kit.run_all()
    assert await found(status="failed") == [failed.id]
    assert await found(status=["done", "failed"], task_id="T") == [ready.id, failed.id]
    assert await found(status="done", role="nobody") == []
    with pytest.raises(InvalidInput):
        await found(status="running")


async def test_pages_of_jobs_follow_each_other(office: OfficeKit) -> None:
    made = [job.id for job in await office.make(*({} for _ in range(7)))]
    await office.kit.app.enqueue("work")
    found, cursor = [], None
    while True:
        page = await office.offices.jobs(office.id, cursor=cursor, limit=3)
        found += [job.id for job in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == made


async def test_the_graph_has_every_job_and_every_dependency(office: OfficeKit) -> None:
    a, b, c = await office.make({"key": "a"}, {"key": "b", "depends_on": ["a"]}, {"depends_on": ["a", "b"]})
    graph = await office.offices.graph(office.id)
    assert [(node.id, node.key, node.status.value) for node in graph.nodes] == [
        (a.id, "a", "ready"),
        (b.id, "b", "pending"),
        (c.id, None, "pending"),
    ]
    assert graph.edges == [
        Edge(source=a.id, target=b.id),
        Edge(source=a.id, target=c.id),
        Edge(source=b.id, target=c.id),
    ]
    assert msgspec.to_builtins(graph.edges[0]) == {"from": a.id, "to": b.id}
    page = await office.offices.graph(office.id, limit=2)
    rest = await office.offices.graph(office.id, limit=2, cursor=page.next_cursor)
    assert (len(page.nodes), len(page.edges), len(rest.nodes), len(rest.edges), rest.next_cursor) == (2, 1, 1, 2, None)


async def test_the_running_execution_is_the_last_of_the_executions(office: OfficeKit) -> None:
    job = await office.one(handler="hold", timeout_ms=5_000)
    await office.kit.start_ready()
    await office.kit.advance(6)
    await office.kit.settle()
    await office.kit.advance(60)
    await office.kit.start_ready()
    first, second = (await office.job(job)).executions
    assert (first.attempt, first.status, second.attempt, second.status) == (1, "timeout", 2, "running")
    assert first.completed_at is not None
    assert second.completed_at is None
    assert second.timeout_at is not None
    assert second.timeout_at > second.started_at
    assert first.session_id != second.session_id


async def test_the_log_of_a_job_is_read_page_by_page(office: OfficeKit) -> None:
    job = await office.one(handler="say")
    await office.kit.run_all()
    log = await office.offices.log(office.id, job.id)
    assert [(entry.text, entry.stream, entry.line) for entry in log.entries] == [("half way", "task", 1)]
    assert (log.entries[0].at or "").endswith("+09:00")
    assert (await office.offices.log(office.id, job.id, after=log.after)).entries == []
    with pytest.raises(InvalidInput):
        await office.offices.log(office.id, job.id, after="x")


async def test_explanation_uses_the_vocabulary_of_offices(office: OfficeKit) -> None:
    first, second, behind = await office.make(
        {"handler": "hold", "role": "FE"}, {"handler": "hold", "role": "FE"}, {"depends_on": []}
    )
    await office.kit.start_ready()
    explanation = await office.offices.explain(office.id, second.id)
    (reason,) = explanation.reasons
    assert (explanation.runnable, reason["code"], reason["holders"]) == (False, "role_full", [first.id])
    await office.kit.app.pause(f"office:{office.id}")
    reasons = (await office.offices.explain(office.id, second.id)).reasons
    assert reasons[0] == {"code": "paused", "text": "The office is paused; resume it."}
    await office.kit.app.resume(f"office:{office.id}")
    office.gates.hold.set()
    await office.kit.run_all()
    (reason,) = (await office.offices.explain(office.id, behind.id)).reasons
    assert (reason["code"], reason["status"], reason["text"]) == ("finished", "done", "It has ended: done.")
    retried = await office.one(handler="fail")
    await office.kit.tick()
    (reason,) = (await office.offices.explain(office.id, retried.id)).reasons
    assert (reason["code"], reason["run_at"][-6:]) == ("retry_time", "+09:00")


async def test_an_explanation_of_a_failed_job_says_why(office: OfficeKit) -> None:
    failed, cancelled = await office.make(
        {"handler": "fail", "args": {"permanent": True, "failure_type": "git_conflict"}}, {"handler": "hold"}
    )
    await office.offices.cancel(office.id, cancelled.id)
    await office.kit.run_all()
    (reason,) = (await office.offices.explain(office.id, failed.id)).reasons
    assert reason["text"].startswith("It has ended: failed. Attempt 1, after 0 of 2 retries, failed ")
    assert "git_conflict: on purpose. " in reason["text"]
    assert (reason["code"], reason["status"], reason["failure_type"]) == ("finished", "failed", "git_conflict")
    assert (reason["error_message"], reason["attempt"], reason["max_retries"]) == ("on purpose", 1, 2)
    assert reason["finished_at"] == (await office.job(failed)).completed_at
    (reason,) = (await office.offices.explain(office.id, cancelled.id)).reasons
    assert (reason["status"], reason["finished_at"]) == ("cancelled", (await office.job(cancelled)).cancelled_at)
