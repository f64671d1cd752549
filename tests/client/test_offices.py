"""Both clients against a real server: every call of offices, typed."""

import asyncio
from typing import Any

import pytest

from hanbeon import App, SyncContext
from hanbeon.client import Changed, Conflict, Invalid, JobSpec, NotFound, StillUnfinished
from hanbeon.surfaces.offices.schemas import Job, Office
from tests.client.both_clients import AnyClient, any_client
from tests.outbound.web import Web, reply
from tests.server.client import serving


async def _open(call: AnyClient, **more: Any) -> Any:
    office = await call(call.client.offices.create, "Seoul", **more)
    assert isinstance(office, Office)
    return call.client.office(office.id)


async def test_offices_are_made_listed_changed_and_deleted(call: AnyClient) -> None:
    offices = call.client.offices
    made = [await call(offices.create, f"office {number}", config={"maxRetries": number}) for number in range(3)]
    assert [each.config.maxRetries for each in made] == [0, 1, 2]
    assert await call.take(offices.list(limit=2)) == made
    office = call.client.office(made[0].id)
    assert await call(office.get) == made[0]
    changed = await call(office.change, name="Busan", expected=made[0].version)
    assert (changed.name, changed.version) == ("Busan", made[0].version + 1)
    with pytest.raises(Changed) as refused:
        await call(office.change, name="Daegu", expected=made[0].version)
    assert (refused.value.status, refused.value.code) == (412, "changed")
    assert await call(office.delete) is None
    with pytest.raises(NotFound) as gone:
        await call(office.get)
    assert (gone.value.code, gone.value.status) == ("office_not_found", 404)
    assert gone.value.request_id


async def test_a_config_is_changed_only_as_it_was_seen(call: AnyClient) -> None:
    office = await _open(call)
    seen = await call(office.config)
    assert seen.config.maxConcurrentJobs == 3
    changed = await call(office.change_config, {"maxConcurrentByRole": {"FE": None}}, expected=seen.version)
    assert "FE" not in changed.config.maxConcurrentByRole
    assert changed.version == seen.version + 1
    with pytest.raises(Changed):
        await call(office.change_config, {"maxRetries": 5}, expected=seen.version)
    with pytest.raises(Invalid) as refused:
        await call(office.change_config, {"maxRetrys": 5})
    assert "maxRetries" in refused.value.detail
    with pytest.raises(Invalid) as refused:
        await call(office.change_config, {"maxRetries": -1})
    assert (refused.value.code, refused.value.field) == ("invalid", "maxRetries")


async def test_jobs_are_made_run_waited_for_and_read(app: App, call: AnyClient) -> None:
    @app.task
    def build(ctx: SyncContext, target: str) -> str:
        ctx.log(f"building {target}")
        return target.upper()

    office = await _open(call, sessions={"default": "build"})
    first, second = await call(
        office.create_jobs,
        [
            JobSpec(key="api", role="BE", args={"target": "api"}, task_id="item 7"),
            {"key": "ui", "role": "FE", "args": {"target": "ui"}, "depends_on": ["api"]},
        ],
    )
    assert isinstance(first, Job)
    assert second.depends_on == [first.id]
    done = await call(office.wait, second, timeout=30)
    assert (done.status, done.result) == ("done", "UI")
    assert [each.status for each in done.executions] == ["completed"]
    assert await call(office.job, first.id) == await call(office.wait, first)
    assert [each.text for each in (await call(office.log, first)).entries] == ["building api"]
    assert [each.id for each in await call.take(office.jobs(status=["done", "failed"], limit=1))] == [
        first.id,
        second.id,
    ]
    assert [each.id for each in await call.take(office.jobs(task_id="item 7"))] == [first.id]
    graph = await call(office.graph, limit=1)
    assert ([each.id for each in graph.nodes], graph.next_cursor) == ([first.id, second.id], None)
    assert [(each.source, each.target) for each in graph.edges] == [(first.id, second.id)]
    stats = await call(office.stats)
    assert (stats.done, stats.ready) == (2, 0)
    assert (await call(office.explain, first)).runnable is False
    with pytest.raises(Conflict) as refused:
        await call(office.retry, first)
    assert refused.value.code == "wrong_state"


async def test_jobs_are_moved_cancelled_and_tried_again(call: AnyClient) -> None:
    office = await _open(call)
    jobs = await call(office.create_jobs, [{"role": "FE"}, {"role": "BE"}, {"role": "BE"}])
    moved = await call(office.priority, jobs[0], priority=-5, urgent=True)
    assert (moved.priority, moved.urgent) == (-5, True)
    assert (await call(office.explain, jobs[0])).reasons[0]["code"] == "no_handler"
    with pytest.raises(StillUnfinished, match="it continues"):
        await call(office.wait, jobs[0], timeout=0.1)
    answer = await call(office.cancel, jobs[0])
    assert (answer.job.status, answer.stopping) == ("cancelled", False)
    assert (await call(office.retry, jobs[0])).status == "ready"
    cancelled = await call(office.cancel_all, role="BE")
    assert set(cancelled.cancelled) == {jobs[1].id, jobs[2].id}
    assert (await call(office.process)).available_slots == 3
    with pytest.raises(Conflict):
        await call(office.delete)
    await call(office.delete, cancel=True)


async def test_a_job_that_is_being_stopped_is_said_to_be(app: App, call: AnyClient) -> None:
    began, may_stop = asyncio.Event(), asyncio.Event()

    @app.task
    async def stubborn() -> None:
        began.set()
        try:
            await asyncio.sleep(600)
        finally:
            await may_stop.wait()

    office = await _open(call, sessions={"default": "stubborn"})
    (job,) = await call(office.create_jobs, [{}])
    await began.wait()
    answer = await call(office.cancel, job)
    assert (answer.job.status, answer.stopping) == ("processing", True)
    may_stop.set()
    assert (await call(office.wait, job, timeout=30)).status == "cancelled"


async def test_invalid_input_error_names_its_field(call: AnyClient) -> None:
    office = await _open(call)
    with pytest.raises(Invalid) as refused:
        await call(office.create_jobs, [{}, {"depends_on": ["nobody"]}])
    assert (refused.value.code, refused.value.field) == ("unknown_dependency", "jobs[1].depends_on")
    assert refused.value.more["ids"] == ["nobody"]
    with pytest.raises(Invalid) as cycle:
        await call(office.create_jobs, [{"key": "a", "depends_on": ["b"]}, {"key": "b", "depends_on": ["a"]}])
    assert set(cycle.value.more["ids"]) == {"a", "b"}


async def test_webhooks_are_shown_enabled_and_list_deliveries(app_url: str, kind: str) -> None:
    async with App(app_url, shutdown_grace=0.2, outbound_allow_private=True) as app, Web(reply(410)) as web:
        app.task(name="work")(_work)
        async with serving(app, work=True) as server, any_client(kind, server.url) as call:
            hook = {"url": f"{web.url}/hook", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
            made = await call(call.client.offices.create, "Seoul", sessions={"default": "work"}, webhooks=[hook])
            office = call.client.office(made.id)
            (job,) = await call(office.create_jobs, [{}])
            await call(office.wait, job, timeout=60)
            while (shown := await call(office.webhook, made.webhooks[0])).state != "disabled":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert shown.last_error
            deliveries: list[Any] = []
            while len(deliveries) < 2:  # The relay may still be at the others.
                deliveries = await call.take(office.deliveries(shown.id, limit=1))
            assert {each.job_id for each in deliveries} == {job.id}
            sent = await call(office.test_webhook, shown)
            while (tried := await call(office.delivery, shown, sent)).status != "failed":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert (tried.type, tried.id, tried.event_id) == ("webhook_test", sent.id, None)
            assert (await call(office.enable_webhook, shown)).state == "enabled"
            with pytest.raises(NotFound) as missing:
                await call(office.webhook, job.id)
            assert missing.value.code == "webhook_not_found"


async def _work() -> None:
    pass
