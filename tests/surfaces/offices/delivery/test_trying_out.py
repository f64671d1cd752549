"""A webhook is tried out: a message that nothing has happened for, sent once, which changes nothing of its state."""

from __future__ import annotations

import pytest
from standardwebhooks import Webhook

from hanbeon.errors import JobNotFound, WebhookNotFound
from hanbeon.surfaces.offices.schemas import SchedulerEvent
from tests.outbound.web import Web, reply
from tests.surfaces.offices.delivery.hooks import SECRET, listen, statuses, types
from tests.surfaces.offices.office_kit import Desk


async def test_message_is_signed_like_an_event_and_can_be_read(desk: Desk) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(desk, web, events=["job_failed"])  # Whatever it asked for.
        sent = await desk.offices.test_webhook(desk.id, hook)
        assert (sent.type, sent.status, sent.event_id, sent.job_id) == ("webhook_test", "waiting", None, None)
        await desk.kit.run_all()
        (seen,) = web.seen
        body = Webhook(SECRET).verify(seen.body, seen.headers)
        assert body.keys() == set(SchedulerEvent.__struct_fields__)
        assert (body["type"], body["office_id"], body["id"]) == ("webhook_test", desk.id, None)
        assert body["details"] == {"webhook_id": hook}
        assert seen.headers["webhook-id"] == sent.id
        found = await desk.offices.delivery(desk.id, hook, sent.id)
        assert (found.status, found.attempts, found.error_message) == ("delivered", 1, None)
        assert (await desk.offices.deliveries(desk.id, hook)).items == [found]


async def test_message_is_listed_among_the_deliveries_in_order(desk: Desk) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(desk, web, events=["job_ready", "job_completed"])
        await desk.one()
        await desk.kit.run_all()
        await desk.offices.test_webhook(desk.id, hook)
        await desk.one()
        await desk.kit.run_all()
        told = ["job_ready", "job_completed", "webhook_test", "job_ready", "job_completed"]
        assert await statuses(desk, hook) == [f"{each} delivered" for each in told]
        page = await desk.offices.deliveries(desk.id, hook, limit=3)
        rest = await desk.offices.deliveries(desk.id, hook, limit=3, cursor=page.next_cursor)
        assert [each.type for each in page.items + rest.items] == told
        assert rest.next_cursor is None


async def test_disabled_webhook_stays_disabled_after_a_test(desk: Desk) -> None:
    async with Web(reply(410), reply(204)) as web:
        (hook,) = await listen(desk, web, events=["job_completed"])
        await desk.one()
        await desk.kit.run_all()
        before = await desk.offices.webhook(desk.id, hook)
        assert before.state == "disabled"
        sent = await desk.offices.test_webhook(desk.id, hook)
        await desk.kit.run_all()
        assert types(web) == ["job_completed", "webhook_test"]
        assert (await desk.offices.delivery(desk.id, hook, sent.id)).status == "delivered"
        assert await desk.offices.webhook(desk.id, hook) == before
        assert await statuses(desk, hook) == ["job_completed waiting", "webhook_test delivered"]
        await desk.offices.enable_webhook(desk.id, hook)
        await desk.kit.run_all()
        assert await statuses(desk, hook) == ["job_completed delivered", "webhook_test delivered"]


async def test_failed_test_message_is_not_retried_nor_counted(desk: Desk) -> None:
    async with Web(reply(410)) as web:
        (hook,) = await listen(desk, web)
        before = await desk.offices.webhook(desk.id, hook)
        sent = await desk.offices.test_webhook(desk.id, hook)
        await desk.kit.run_all()
        found = await desk.offices.delivery(desk.id, hook, sent.id)
        assert (found.status, found.attempts) == ("failed", 1)
        assert "410 Gone" in (found.error_message or "")
        assert await desk.offices.webhook(desk.id, hook) == before
        await desk.kit.run_all()
        assert len(web.seen) == 1


async def test_the_same_request_again_sends_nothing_more(desk: Desk) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(desk, web)
        sent = await desk.offices.test_webhook(desk.id, hook)
        await desk.kit.run_all()
        again = await desk.offices.test_webhook(desk.id, hook, delivery_id=sent.id)
        await desk.kit.run_all()
        assert (again.id, again.status) == (sent.id, "delivered")
        assert len(web.seen) == 1


async def test_unknown_webhook_or_delivery_is_not_found(desk: Desk) -> None:
    async with Web(reply(204)) as web, Web(reply(204)) as other:
        first, second = await listen(desk, web, other)
        job = await desk.one()
        sent = await desk.offices.test_webhook(desk.id, first)
        for wrong in (job.id, "x", second):
            with pytest.raises(JobNotFound):
                await desk.offices.delivery(desk.id, first, wrong)
        with pytest.raises(JobNotFound):
            await desk.offices.delivery(desk.id, second, sent.id)
        with pytest.raises(WebhookNotFound):
            await desk.offices.test_webhook(desk.id, job.id)
        # Removed before a worker came to it: it goes to nobody.
        await desk.offices.change(desk.id, {"webhooks": None})
        await desk.kit.run_all()
        assert web.seen == other.seen == []
