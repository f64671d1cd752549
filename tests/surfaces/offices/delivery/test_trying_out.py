"""Test messages of a webhook: sent once, without an event, and without an effect on its state."""

from __future__ import annotations

import pytest
from standardwebhooks import Webhook

from hanbeon.errors import JobNotFound, WebhookNotFound
from hanbeon.surfaces.offices.schemas import SchedulerEvent
from tests.outbound.web import Web, reply
from tests.surfaces.offices.delivery.hooks import SECRET, listen, statuses, types
from tests.surfaces.offices.office_kit import OfficeKit


async def test_message_is_signed_like_an_event_and_can_be_read(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(office, web, events=["job_failed"])  # Whatever events it subscribed to.
        sent = await office.offices.test_webhook(office.id, hook)
        assert (sent.type, sent.status, sent.event_id, sent.job_id) == ("webhook_test", "waiting", None, None)
        await office.kit.run_all()
        (seen,) = web.seen
        body = Webhook(SECRET).verify(seen.body, seen.headers)
        assert body.keys() == set(SchedulerEvent.__struct_fields__)
        assert (body["type"], body["office_id"], body["id"]) == ("webhook_test", office.id, None)
        assert body["details"] == {"webhook_id": hook}
        assert seen.headers["webhook-id"] == sent.id
        found = await office.offices.delivery(office.id, hook, sent.id)
        assert (found.status, found.attempts, found.error_message) == ("delivered", 1, None)
        assert (await office.offices.deliveries(office.id, hook)).items == [found]


async def test_message_is_listed_among_the_deliveries_in_order(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(office, web, events=["job_ready", "job_completed"])
        await office.one()
        await office.kit.run_all()
        await office.offices.test_webhook(office.id, hook)
        await office.one()
        await office.kit.run_all()
        types = ["job_ready", "job_completed", "webhook_test", "job_ready", "job_completed"]
        assert await statuses(office, hook) == [f"{each} delivered" for each in types]
        page = await office.offices.deliveries(office.id, hook, limit=3)
        rest = await office.offices.deliveries(office.id, hook, limit=3, cursor=page.next_cursor)
        assert [each.type for each in page.items + rest.items] == types
        assert rest.next_cursor is None


async def test_disabled_webhook_stays_disabled_after_a_test(office: OfficeKit) -> None:
    async with Web(reply(410), reply(204)) as web:
        (hook,) = await listen(office, web, events=["job_completed"])
        await office.one()
        await office.kit.run_all()
        before = await office.offices.webhook(office.id, hook)
        assert before.state == "disabled"
        sent = await office.offices.test_webhook(office.id, hook)
        await office.kit.run_all()
        assert types(web) == ["job_completed", "webhook_test"]
        assert (await office.offices.delivery(office.id, hook, sent.id)).status == "delivered"
        assert await office.offices.webhook(office.id, hook) == before
        assert await statuses(office, hook) == ["job_completed waiting", "webhook_test delivered"]
        await office.offices.enable_webhook(office.id, hook)
        await office.kit.run_all()
        assert await statuses(office, hook) == ["job_completed delivered", "webhook_test delivered"]


async def test_failed_test_message_is_not_retried_nor_counted(office: OfficeKit) -> None:
    async with Web(reply(410)) as web:
        (hook,) = await listen(office, web)
        before = await office.offices.webhook(office.id, hook)
        sent = await office.offices.test_webhook(office.id, hook)
        await office.kit.run_all()
        found = await office.offices.delivery(office.id, hook, sent.id)
        assert (found.status, found.attempts) == ("failed", 1)
        assert "410 Gone" in (found.error_message or "")
        assert await office.offices.webhook(office.id, hook) == before
        await office.kit.run_all()
        assert len(web.seen) == 1


async def test_the_same_request_again_sends_nothing_more(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(office, web)
        sent = await office.offices.test_webhook(office.id, hook)
        await office.kit.run_all()
        again = await office.offices.test_webhook(office.id, hook, new_id=lambda _: sent.id)
        await office.kit.run_all()
        assert (again.id, again.status) == (sent.id, "delivered")
        assert len(web.seen) == 1


async def test_unknown_webhook_or_delivery_is_not_found(office: OfficeKit) -> None:
    async with Web(reply(204)) as web, Web(reply(204)) as other:
        first, second = await listen(office, web, other)
        job = await office.one()
        sent = await office.offices.test_webhook(office.id, first)
        for wrong in (job.id, "x", second):
            with pytest.raises(JobNotFound):
                await office.offices.delivery(office.id, first, wrong)
        with pytest.raises(JobNotFound):
            await office.offices.delivery(office.id, second, sent.id)
        with pytest.raises(WebhookNotFound):
            await office.offices.test_webhook(office.id, job.id)
        # Removed before a worker came to it: it goes to nobody.
        await office.offices.change(office.id, webhooks=None)
        await office.kit.run_all()
        assert web.seen == other.seen == []
