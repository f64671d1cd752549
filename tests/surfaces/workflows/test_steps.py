"""Steps of a run: what they do, how often they are tried, and what the next one gets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hanbeon.errors import Conflict, InvalidInput
from hanbeon.outbound.secrets import SecretSource
from tests.outbound.mail import smtp_server
from tests.outbound.web import Web, json_reply, reply
from tests.surfaces.workflows.workflow_kit import WorkflowKit, message, statuses


async def test_message_arrives_by_mail_in_korean(workflow_kit: WorkflowKit) -> None:
    async with smtp_server() as mailbox:
        run = await workflow_kit.run(
            message(mailbox.target(), "{{ name }}님, {{ day }}일 남았습니다.", title="D-{{ day }} 알림"),
            variables={"name": "김하늘", "day": 3},
        )
        (mail,) = mailbox.messages
    assert (run.status, statuses(run)) == ("completed", [("step1", "completed", 1)])
    assert mail["Subject"] == "D-3 알림"
    assert "김하늘님, 3일 남았습니다." in mail.get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
    assert (run.steps[0].output, run.late) == ({"sent": 1, "unknown": 0}, False)
    assert await workflow_kit.findings() == []


async def test_http_output_is_given_to_the_next_step(workflow_kit: WorkflowKit) -> None:
    answer = json.dumps({"total": 7, "items": [{"이름": "가"}]})
    async with Web(json_reply(answer)) as web, smtp_server() as mailbox:
        run = await workflow_kit.run(
            {"type": "http", "name": "report", "url": f"{web.url}/report", "body": {"day": "{{ run.date }}"}},
            message(mailbox.target(), "합계 {{ steps.report.body.total }}, {{ steps.report.body.items.0.이름 }}"),
        )
        text = mailbox.messages[0].get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
    assert run.status == "completed", run
    assert "합계 7, 가" in text
    assert json.loads(web.seen[0].body)["day"] == run.scheduled_time[:10]
    assert web.seen[0].headers["idempotency-key"] == f"{run.run_id}:0"


async def test_each_recipient_gets_one_message(workflow_kit: WorkflowKit) -> None:
    """One is refused at first: only that one is sent again."""
    async with smtp_server(refuse=1) as mailbox:
        people = [{"to": f"p{n}@example.org", "name": f"손님{n}"} for n in range(4)]
        target = mailbox.target("TO").replace("TO", "{{ to }}")
        run = await workflow_kit.run(message(target, "{{ name }}님께", recipients=people, name="mail"))
        assert sorted(mail["To"] for mail in mailbox.messages) == [each["to"] for each in people]
    assert (run.status, statuses(run), run.retry_count) == ("completed", [("mail", "completed", 2)], 1)
    assert [(each.status.value, each.attempts) for each in run.steps[0].deliveries] == [("sent", 2)] + [("sent", 1)] * 3
    assert run.steps[0].output == {"sent": 4, "unknown": 0}


async def test_private_address_is_refused_with_its_remedy(sqlite_workflows: WorkflowKit) -> None:
    """At once, and in the same words for each type: no task is involved whose options could allow it."""
    async with Web() as web:
        for step in ({"type": "http", "url": web.url}, message(f"json://127.0.0.1:{web.port}/")):
            run = await sqlite_workflows.run(step)
            assert (run.status, statuses(run)) == ("failed", [("step1", "failed", 1)])
            assert run.steps[0].error_message == (
                "127.0.0.1 is refused: a loopback address; to allow it, say [outbound] allow_private = true"
            )
        assert web.seen == []


async def test_failing_step_is_retried_then_stops_the_run(workflow_kit: WorkflowKit) -> None:
    """A step that succeeded is not repeated by the retries of the next, nor by a retry of the run."""
    async with Web(reply(200)) as good, Web(*[reply(503, "고장")] * 3, reply(200)) as bad:
        made = await workflow_kit.make(
            {"type": "http", "name": "good", "url": good.url},
            {"type": "http", "name": "bad", "url": bad.url, "retries": 2},
            {"type": "wait", "name": "never", "seconds": 0},
            status="active",
        )
        await workflow_kit.kit.run_all()
        (run,) = await workflow_kit.runs(made)
        assert (run.status, run.error_code, run.retry_count) == ("failed", "ERROR", 2)
        assert "step 'bad' failed" in str(run.error_message)
        assert "고장" in str(run.steps[1].error_message)
        assert statuses(run) == [("good", "completed", 1), ("bad", "failed", 3)]
        assert [each.run_id for each in (await workflow_kit.workflows.monitor()).recent_failures] == [run.run_id]
        again = await workflow_kit.workflows.retry(made, run)
        assert again.status == "pending"
        await workflow_kit.kit.run_all()
        (run,) = await workflow_kit.runs(made)
        assert (run.status, [step.status.value for step in run.steps]) == ("completed", ["completed"] * 3)
        assert (len(good.seen), len(bad.seen)) == (1, 4)
    assert await workflow_kit.findings() == []


async def test_on_error_continue_goes_on(workflow_kit: WorkflowKit) -> None:
    async with Web(reply(404, "없음")) as web, smtp_server() as mailbox:
        run = await workflow_kit.run(
            {"type": "http", "name": "gone", "url": web.url, "on_error": "continue"},
            message(mailbox.target(), "상태: {{ steps.gone }}"),
        )
        assert len(mailbox.messages) == 1
    assert (run.status, statuses(run)) == ("completed", [("gone", "failed", 1), ("step2", "completed", 1)])


async def test_waiting_run_holds_no_slot_and_is_pending(workflow_kit: WorkflowKit) -> None:
    made = await workflow_kit.make({"type": "wait", "minutes": 5}, {"type": "wait", "seconds": 0}, status="active")
    await workflow_kit.kit.tick()
    (run,) = await workflow_kit.runs(made)
    assert (run.status, run.steps[0].status, run.retry_count) == ("pending", "waiting", 0)
    assert len(workflow_kit.kit.worker.attempts) == 0
    why = await workflow_kit.workflows.explain(made, run)
    assert [reason["code"] for reason in why.reasons] == ["retry_time"]
    await workflow_kit.kit.advance(299)
    assert await workflow_kit.kit.tick() == 0
    await workflow_kit.kit.advance(1)
    await workflow_kit.kit.tick()
    (run,) = await workflow_kit.runs(made)
    assert run.status == "completed"


async def test_task_step_waits_for_a_job_of_its_own(workflow_kit: WorkflowKit) -> None:
    @workflow_kit.app.task
    async def total(day: str, rate: int) -> dict[str, Any]:
        return {"total": 12 * rate, "day": day}

    async with smtp_server() as mailbox:
        run = await workflow_kit.run(
            {"type": "task", "name": "sum", "task_id": "total", "args": {"day": "{{ run.date }}", "rate": 3}},
            message(mailbox.target(), "합계 {{ steps.sum.total }}"),
        )
        assert "합계 36" in mailbox.messages[0].get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
    assert (run.status, run.steps[0].output) == ("completed", {"total": 36, "day": run.scheduled_time[:10]})
    assert run.steps[0].job_id is not None
    job = await workflow_kit.app.job(run.steps[0].job_id).record()
    assert (job.queue, job.task, job.state) == ("workflow-tasks", "total", "succeeded")
    with pytest.raises(Conflict, match="belongs to a run of a workflow"):
        await workflow_kit.app.retry(job.id)


async def test_cancel_stops_the_run_and_its_job(workflow_kit: WorkflowKit) -> None:
    @workflow_kit.app.task
    async def later() -> None: ...

    made = await workflow_kit.make({"type": "task", "task_id": "later"}, status="active")
    workflow_kit.kit.worker.main.slots = 0
    await workflow_kit.kit.tick()
    (run,) = await workflow_kit.runs(made)
    cancelled = await workflow_kit.workflows.cancel(made, run)
    assert (cancelled.status, cancelled.error_code) == ("failed", "CANCELLED")
    assert cancelled.steps[0].status == "cancelled"
    assert (await workflow_kit.app.job(str(run.steps[0].job_id)).record()).state == "cancelled"
    monitor = await workflow_kit.workflows.monitor()
    assert (monitor.failed, monitor.recent_failures) == (1, [])


async def test_final_failure_notifies_whom_the_workflow_names(workflow_kit: WorkflowKit) -> None:
    async with Web(reply(400)) as web, Web(reply(200)) as hook, smtp_server() as mailbox:
        targets = [mailbox.target("ops@example.org"), f"json://127.0.0.1:{hook.port}/hook"]
        await workflow_kit.run({"type": "http", "url": web.url}, notifications=targets)
        (mail,) = mailbox.messages
        assert json.loads(hook.seen[0].body)["type"] == "failure"
    assert (mail["To"], mail["Subject"]) == ("ops@example.org", "Workflow “알림” failed")


async def test_secrets_are_sent_and_shown_nowhere(workflow_kit: WorkflowKit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cr3t-token")
    workflow_kit.app.secrets.declare({"TOKEN": SecretSource(env="API_TOKEN")})
    async with Web(json_reply('{"echo": "s3cr3t-token"}'), reply(400, "bad s3cr3t-token")) as web:
        call = {"type": "http", "url": web.url, "headers": {"Authorization": "Bearer {{ secrets.TOKEN }}"}}
        made = await workflow_kit.make({**call, "name": "a"}, {**call, "name": "b"}, status="active")
        await workflow_kit.kit.run_all()
        assert [seen.headers["authorization"] for seen in web.seen] == ["Bearer s3cr3t-token"] * 2
    (run,) = await workflow_kit.runs(made)
    assert run.status == "failed"
    assert run.steps[0].output["body"] == {"echo": "****"}
    assert "s3cr3t" not in repr((run, made))
    for table in ("workflow", "workflow_run", "workflow_step", "job"):
        assert "s3cr3t" not in repr([tuple(row) for row in await workflow_kit.script(f"SELECT * FROM hanbeon.{table}")])


async def test_masked_headers_stay_with_their_host(workflow_kit: WorkflowKit) -> None:
    """Otherwise whoever may change a workflow could have a secret that is not shown sent to a host of their own."""
    step = {"type": "http", "url": "https://api.example.org/v1", "headers": {"Authorization": "Bearer pa55word"}}
    made = await workflow_kit.make({**step, "name": "a"})
    assert "pa55word" not in repr(made)
    masked = {**step, "name": "a", "headers": {"Authorization": "****"}}
    change = workflow_kit.workflows.change
    kept = await change(made, steps=[{**masked, "url": "https://API.example.org/v2"}])
    for url in ("https://api.example.com/v1", "http://api.example.org/v1", "https://api.example.org:8443/v1"):
        with pytest.raises(InvalidInput, match="no such header at this host") as refused:
            await change(kept, steps=[{**masked, "url": url}])
        assert refused.value.field == "steps[0].headers.Authorization"
    stored = (await workflow_kit.script("SELECT definition FROM hanbeon.workflow"))[0][0]
    assert "pa55word" in stored
    assert "example.com" not in stored


async def test_inline_secrets_are_masked_and_kept(workflow_kit: WorkflowKit) -> None:
    target = "mailtos://kim:pa55word@mail.example.org?to=a@example.org"
    made = await workflow_kit.make(message(target), notifications=[target])
    assert "pa55word" not in repr(made)
    kept = await workflow_kit.workflows.change(made, steps=made.steps, notifications=made.notifications)
    assert kept.steps == made.steps
    stored = (await workflow_kit.script("SELECT definition FROM hanbeon.workflow"))[0][0]
    assert stored.count("pa55word") == 2


async def test_dry_run_renders_and_sends_nothing(workflow_kit: WorkflowKit) -> None:
    made = await workflow_kit.make(
        {"type": "http", "name": "report", "url": "http://127.0.0.1:1/"},
        message(
            "json://127.0.0.1:1",
            "{{ who }}: {{ steps.report.body.total }}",
            title="{{ 제목 }}",
            recipients=[{"who": "가"}],
        ),
        variables={"제목": "주간 보고"},
    )
    (shown,) = (await workflow_kit.workflows.dry_run(made)).messages
    assert (shown.title, shown.body) == ("주간 보고", "가: [steps.report.body.total]")
    given = await workflow_kit.workflows.dry_run(
        made, variables={"제목": "새 제목"}, outputs={"report": {"body": {"total": 5}}}
    )
    assert (given.messages[0].title, given.messages[0].body) == ("새 제목", "가: 5")
    assert await workflow_kit.runs(made) == []


@pytest.mark.parametrize(
    ("step", "field"),
    [
        (message("json://a.example", "{{ nobody }}"), "steps[0].body"),
        (message("json://a.example", "{% if x %}"), "steps[0].body"),
        (message("json://a.example", "{{ name|upper }}"), "steps[0].body"),
        (message("json://a.example", "{{ steps.step1.x }}"), "steps[0].body"),
        (message("json://a.example", "{{ secrets.TOKEN }}"), "steps[0].body"),
        (message("json://a.example", title="{{ 0 / 0 }}"), "steps[0].title"),
        (message("NOT_DECLARED"), "steps[0].target"),
        (message("syslog://"), "steps[0].target"),
        (message("json://"), "steps[0].target"),
        (message("json://{{ secrets.OTHER }}"), "steps[0].target"),
        ({"type": "message", "body": "x", "recipients": [{"a": 1}]}, "steps[0].recipients[0].target"),
        ({"type": "message", "target": "json://a.example"}, "steps[0].body"),
        ({"type": "http", "url": "ftp://a.example"}, "steps[0].url"),
        ({"type": "http", "url": "https://{{ name }}/x"}, "steps[0].url"),
        ({"type": "http", "url": "https://a.example", "seconds": 1}, "steps[0].seconds"),
        ({"type": "wait"}, "steps[0].wait"),
        ({"type": "wait", "seconds": -1}, "steps[0].seconds"),
        ({"type": "task", "task_id": "unknown"}, "steps[0].task_id"),
        ({"type": "shout"}, "steps[0].type"),
        ({"type": "wait", "seconds": 1, "retries": -1}, "steps[0].retries"),
    ],
)
async def test_rejects_invalid_steps(sqlite_workflows: WorkflowKit, step: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await sqlite_workflows.make(step, variables={"name": "x"})
    assert caught.value.field == field
    assert (await sqlite_workflows.workflows.list()).items == []
