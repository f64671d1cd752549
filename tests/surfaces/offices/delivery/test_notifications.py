"""Notifications of permanent failures, by mail and over HTTP, without exposing passwords."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.job import JobRecord
from hanbeon.store.operations.queries import JobFilter, list_jobs
from hanbeon.surfaces.offices.delivery.rules import TASK, ListenerKind
from hanbeon.testing import TestKit
from tests.outbound.mail import smtp_server
from tests.outbound.web import Web, reply, silence
from tests.surfaces.offices.office_kit import OfficeKit, add_tasks

FAILING = {"handler": "fail", "max_retries": 1, "role": "QA", "title": "Try it out", "args": {"failure_type": "boom"}}


async def _sent(office: OfficeKit) -> list[JobRecord]:
    return await office.kit.app.store.read(lambda tx: list_jobs(tx, JobFilter(task=TASK[ListenerKind.NOTIFICATION])))


async def test_a_permanent_failure_is_mailed(office: OfficeKit) -> None:
    async with smtp_server() as mailbox:
        await office.offices.change(office.id, name="Seoul", notifications=[mailbox.target()])
        (job, _, _) = await office.make(FAILING, {}, {"handler": "hold", "key": "x"})
        office.gates.hold.set()
        await office.kit.run_all()
        (mail,) = mailbox.messages
        assert mail["Subject"] == "Seoul: Try it out has failed"
        assert mail["To"] == "team@example.org"
        text = mail.get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
        for expected in ("Seoul", "Try it out", job.id, "QA", "boom", "on purpose", "Attempts: 2"):
            assert expected in text
        (sent,) = await _sent(office)
        assert (sent.state, "127.0.0.1" in sent.args) == ("succeeded", False)


async def test_notification_links_to_the_page_of_the_job(kit_url: str) -> None:
    app = App(outbound_allow_private=True, public_url="https://jobs.example.org/hanbeon/")
    gates = add_tasks(app)
    async with TestKit(app, kit_url) as kit, smtp_server() as mailbox:
        office = OfficeKit(kit, gates)
        await office.open(notifications=[mailbox.target()])
        (job,) = await office.make({**FAILING, "max_retries": 0})
        await kit.run_all()
        (mail,) = mailbox.messages
        text = mail.get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
        assert f"Page: https://jobs.example.org/hanbeon/#/jobs/{job.id}" in text


async def test_in_korean_where_that_is_the_language(kit_url: str) -> None:
    app = App(outbound_allow_private=True, language="ko")
    gates = add_tasks(app)
    async with TestKit(app, kit_url) as kit, Web(reply(200)) as web:
        office = OfficeKit(kit, gates)
        await office.open(name="서울", notifications=[f"json://127.0.0.1:{web.port}/hook"])
        await office.one(**FAILING)
        await office.kit.run_all()
        body = json.loads(web.seen[0].body)
        assert (body["title"], body["type"]) == ("서울: Try it out 작업이 실패했습니다", "failure")
        for expected in ("오피스: 서울", "역할: QA", "실패 유형: boom", "메시지: on purpose", "시도 횟수: 2"):
            assert expected in body["message"]


async def test_it_is_tried_again_until_it_is_taken(office: OfficeKit) -> None:
    async with smtp_server(refuse=2) as mailbox:
        await office.offices.change(office.id, notifications=[mailbox.target()])
        await office.one(**FAILING)
        await office.kit.run_all()
        assert (len(mailbox.messages), mailbox.refused) == (1, 2)
        (sent,) = await _sent(office)
        assert (sent.state, sent.fence) == ("succeeded", 3)


async def test_one_for_each_failure_and_target(office: OfficeKit) -> None:
    async with smtp_server() as first, smtp_server() as second:
        await office.offices.change(office.id, notifications=[first.target(), second.target()])
        failing: list[dict[str, Any]] = [{"handler": "fail", "max_retries": 0, "title": f"job {n}"} for n in range(3)]
        # A job that fails with its dependency has failed, too.
        behind = {"depends_on": ["a"], "on_dependency_failure": "fail", "title": "behind"}
        await office.make({**failing[0], "key": "a"}, *failing[1:], behind)
        await office.kit.run_all()
        for mailbox in (first, second):
            subjects = sorted(str(mail["Subject"]) for mail in mailbox.messages)
            assert subjects == [f"an office: {name} has failed" for name in ("behind", "job 0", "job 1", "job 2")]


async def test_no_password_is_shown_logged_or_kept_with_the_job(
    office: OfficeKit, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with Web(reply(500)) as web:
        target = f"json://ada:geheim@127.0.0.1:{web.port}/geheimnis?+X-Token=geheim3"
        changed = await office.offices.change(office.id, notifications=[target])
        await office.one(**FAILING)
        caplog.set_level(logging.DEBUG)
        await office.kit.run_all()
        assert len(web.seen) == 7
        assert "geheim" in f"{web.seen[0].target} {web.seen[0].headers}"
        (sent,) = await _sent(office)
        assert (sent.state, bool(sent.error_message)) == ("failed", True)
        attempts = await office.kit.app.job(sent.id).attempts()
        log = await office.kit.app.log(sent.id)
        events = await office.kit.app.events_after(0)
        failed = [each.getMessage() for each in caplog.records if "notification_failed" in each.getMessage()]
        assert len(failed) == 7
        assert all(f"json://ada:****@127.0.0.1:{web.port}/****?****" in each for each in failed)
        out, err = capfd.readouterr()
        for shown in (changed, sent, attempts, log, events, caplog.text, out, err, await office.offices.list()):
            assert "geheim" not in str(shown)


async def test_sending_to_who_is_silent_can_be_stopped_for_real(office: OfficeKit) -> None:
    async with Web(silence) as web:
        await office.offices.change(office.id, notifications=[f"json://127.0.0.1:{web.port}/?rto=600"])
        await office.one(handler="fail", max_retries=0)
        await office.kit.tick()
        await office.kit.start_ready()
        async with asyncio.timeout(30):
            await web.asked.wait()
        (sent,) = await _sent(office)
        await office.kit.app.cancel(sent.id)
        await office.kit.settle()
        assert await office.kit.app.job(sent.id).state() == "cancelled"
        async with asyncio.timeout(30):
            await web.left.wait()


@pytest.fixture
async def strict(kit_url: str) -> AsyncIterator[OfficeKit]:
    """An office that may not notify private addresses."""
    app = App()
    gates = add_tasks(app)
    async with TestKit(app, kit_url, start=dt.datetime.now(dt.UTC)) as kit:
        office = OfficeKit(kit, gates)
        await office.open()
        yield office


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_private_addresses_hear_nothing(strict: OfficeKit, host: str) -> None:
    async with Web(reply(200)) as web, smtp_server() as mailbox:
        targets = [
            f"json://{host}:{web.port}/",
            f"mailto://{host}:{mailbox.port}?from=a@example.org&to=b@example.org",
        ]
        await strict.offices.change(strict.id, notifications=targets)
        await strict.one(**FAILING)
        await strict.kit.run_all()
        assert (web.open, web.seen, mailbox.messages) == (0, [], [])
        for sent in await _sent(strict):
            assert (sent.state, sent.fence, sent.failure_type) == ("failed", 1, "permission_error")
            assert "allow_private" in (sent.error_message or "")
            assert "is refused" in (sent.error_message or "")


async def test_webhook_name_resolving_to_private_address_is_refused(strict: OfficeKit) -> None:
    async with Web(reply(200)) as web:
        hook = {"url": f"http://localhost:{web.port}/", "secret": "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"}
        changed = await strict.offices.change(strict.id, webhooks=[hook])
        await strict.one()
        await strict.kit.run_all()
        assert (web.open, web.seen) == (0, [])
        shown = await strict.offices.webhook(strict.id, changed.webhooks[0].id)
        assert shown.state == "disabled"
        assert (shown.last_error or "").endswith("address; to allow it, say [outbound] allow_private = true")
