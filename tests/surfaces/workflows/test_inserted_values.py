"""A value that a run inserts into a target stays one value: no recipient, host, path or parameter more."""

from __future__ import annotations

import pytest

from tests.outbound.mail import smtp_server
from tests.outbound.web import Web, reply
from tests.surfaces.workflows.workflow_kit import WorkflowKit, message

KIM, EVE = "kim@x.example", "eve@y.example"
SEVERAL = [
    f"{KIM},{EVE}",
    f"{KIM};{EVE}",
    f"{KIM} {EVE}",
    f"{KIM}\r\n{EVE}",
    f"{KIM}\t{EVE}",
    f"Kim <{KIM}>, Eve <{EVE}>",
    f'"Kim" <{KIM}> <{EVE}>',
    f"{KIM}%2C{EVE}",
    f"{KIM}%252C{EVE}",
    f"{KIM}&cc={EVE}",
    f"{KIM}/{EVE}",
    f"{KIM}?bcc={EVE}",
    f"{KIM}|{EVE}",
    f"{KIM}\x00{EVE}",
]


async def test_value_adds_no_recipient(workflow_kit: WorkflowKit) -> None:
    async with smtp_server() as mailbox:
        base = mailbox.target("TO").partition("TO")[0]
        targets = [f"{base}{{{{ to }}}}", f"{base}{KIM}&cc={{{{ to }}}}", f"{base}{KIM}&bcc={{{{ to }}}}"]
        people = [{"target": each, "to": value} for value in SEVERAL for each in targets]
        step = message("", "안녕하세요", recipients=people, retries=0)
        run = await workflow_kit.run({**step, "target": "json://a.example"})
        assert {name for names in mailbox.recipients for name in names} <= {KIM}
        assert all(EVE not in str(mail) for mail in mailbox.messages)
        refused = [each.error_message or "" for each in run.steps[0].deliveries if each.status == "failed"]
        assert len(refused) + len(mailbox.messages) == len(people)
        assert any(each.startswith("target must have 1 recipient, as its template has, got 2") for each in refused)


async def test_one_address_for_each_place_is_sent(workflow_kit: WorkflowKit) -> None:
    async with smtp_server() as mailbox:
        base = mailbox.target("TO").partition("TO")[0]
        lee, named = "lee@z.example", f"Kim <{KIM}>"
        people = [
            {"target": f"{base}{{{{ a }}}},{{{{ b }}}}&cc={{{{ c }}}}", "a": KIM, "b": lee, "c": ""},
            {"target": f"{base}{{{{ a }}}},{{{{ b }}}}&cc={{{{ c }}}}", "a": KIM, "b": KIM, "c": lee},
            {"target": f"{base}{{{{ a }}}}@x.example&name={{{{ b }}}}", "a": "kim", "b": "a, b; c", "c": ""},
            {"target": f"{base}{{{{ a }}}}", "a": named, "b": "", "c": ""},
        ]
        run = await workflow_kit.run({**message("", recipients=people, retries=0), "target": "json://a.example"})
        assert run.status == "completed", run.steps[0].deliveries
        assert [sorted(set(names)) for names in mailbox.recipients] == [[KIM, lee], [KIM, lee], [KIM], [KIM]]


@pytest.mark.parametrize("value", ["a/../../admin", "a?x=1", "a#b", "..", "%2e%2e", "a/b"])
async def test_value_adds_no_path_or_parameter(workflow_kit: WorkflowKit, value: str) -> None:
    async with Web(*[reply(200)] * 9) as web:
        place = f"json://127.0.0.1:{web.port}"
        people = [
            {"target": f"{place}/x/{{{{ v }}}}/y", "v": value},
            {"target": f"{place}/?-k={{{{ v }}}}", "v": value},
        ]
        run = await workflow_kit.run({**message("", recipients=people, retries=0), "target": "json://a.example"})
        assert [each.status.value for each in run.steps[0].deliveries] == ["failed", "sent"], run.steps
        assert "target must have the parts of its template" in (run.steps[0].deliveries[0].error_message or "")
        (seen,) = web.seen
        assert seen.target.count("=") == 1
