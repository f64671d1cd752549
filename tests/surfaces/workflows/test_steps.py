"""Steps of a run: what they do, how often they are tried, and what the next one gets."""

from __future__ import annotations

import json

from tests.outbound.mail import smtp_server
from tests.outbound.web import Web, json_reply
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
