"""Deliveries to webhooks: every event, signed, with the same bytes at every attempt."""

from __future__ import annotations

import datetime as dt
import itertools
import json

import msgspec
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from hanbeon.surfaces.offices.schemas import SchedulerEvent
from tests.outbound.web import Web, begun, broken, reply, silence
from tests.surfaces.offices.delivery.hooks import SECRET, ids, listen, statuses, types
from tests.surfaces.offices.office_kit import OfficeKit

EVENTS = ["job_ready", "job_started", "job_completed"]


async def _events(office: OfficeKit) -> list[SchedulerEvent]:
    found: list[SchedulerEvent] = []
    after, more = 0, True
    while more:
        page = await office.offices.events(office.id, after=after)
        after, more = page.after, page.more
        found += page.items
    return found


async def test_every_event_is_sent_once_and_is_the_one_that_others_see(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        await listen(office, web)
        await office.one()
        await office.kit.run_all()
        assert sorted(types(web)) == sorted(EVENTS)  # Several are in flight at once, in any order.
        sent = [msgspec.json.decode(seen.body, type=SchedulerEvent) for seen in web.seen]
        assert sorted(sent, key=lambda event: event.id) == await _events(office)
        assert [(seen.method, seen.target) for seen in web.seen] == [("POST", "/hook")] * 3
        assert len(set(ids(web.seen))) == 3
        await office.kit.run_all()
        assert len(web.seen) == 3


async def test_delivery_signature_verifies_and_forgeries_fail(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        await listen(office, web, events=["job_ready"])
        await office.one()
        await office.kit.tick()
        (seen,) = web.seen
        assert Webhook(SECRET).verify(seen.body, seen.headers)["type"] == "job_ready"
        other = "whsec_" + "A" * 32
        for secret, body, change in (
            (SECRET, seen.body + b" ", {}),
            (SECRET, seen.body.replace(b"job_ready", b"job_failed"), {}),
            (SECRET, seen.body, {"webhook-id": "another"}),
            (SECRET, seen.body, {"webhook-timestamp": str(int(seen.headers["webhook-timestamp"]) + 1)}),
            (other, seen.body, {}),
        ):
            with pytest.raises(WebhookVerificationError):
                Webhook(secret).verify(body, seen.headers | change)


@pytest.mark.parametrize("secret", ["geheim", "비밀", "an ordinary sentence", "c2hvcnQ="])
async def test_text_of_another_kind_of_secret_is_the_key(office: OfficeKit, secret: str) -> None:
    async with Web(reply(204)) as web:
        await listen(office, web, secret=secret, events=["job_ready"])
        await office.one()
        await office.kit.tick()
        (seen,) = web.seen
        assert Webhook(secret.encode()).verify(seen.body, seen.headers)["type"] == "job_ready"


async def test_a_webhook_gets_what_it_asked_for_from_when_it_was_made(office: OfficeKit) -> None:
    await office.one()
    await office.kit.run_all()
    async with Web(reply(204)) as web:
        await listen(office, web, events=["job_failed", "job_retrying"])
        await office.make({}, {"handler": "fail", "max_retries": 1})
        await office.kit.run_all()
        assert types(web) == ["job_retrying", "job_failed"]


async def test_another_office_s_events_are_not_sent(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        await listen(office, web)
        other = await office.offices.create(name="other", sessions={"default": "work"})
        await office.offices.create_jobs(other.id, jobs=[{}])
        await office.kit.app.enqueue("work")
        assert await office.kit.run_all() == 2
        assert web.seen == []


async def test_a_delivery_is_tried_again_with_the_same_id_and_bytes(office: OfficeKit) -> None:
    async with Web(reply(500), reply(302, headers={"Location": "/elsewhere"}), reply(400), reply(204)) as web:
        (hook,) = await listen(office, web, events=["job_completed"])
        await office.one()
        await office.kit.run_all()
        assert len(web.seen) == 4
        assert len(set(ids(web.seen))) == 1
        assert len({seen.body for seen in web.seen}) == 1
        assert {seen.target for seen in web.seen} == {"/hook"}  # A redirect is not followed.
        sent_at = [int(seen.headers["webhook-timestamp"]) for seen in web.seen]
        waits = [later - earlier for earlier, later in itertools.pairwise(sent_at)]
        for wait, least in zip(waits, (10, 20, 40), strict=True):
            assert least <= wait <= least * 1.2 + 1
        (delivery,) = (await office.offices.deliveries(office.id, hook)).items
        assert (delivery.id, delivery.status, delivery.attempts) == (ids(web.seen)[0], "delivered", 4)
        for seen in web.seen:
            assert seen.headers["webhook-signature"].startswith("v1,")


async def test_webhook_retry_after_is_honoured(office: OfficeKit) -> None:
    async with Web(reply(429, headers={"Retry-After": "300"}), reply(204)) as web:
        (hook,) = await listen(office, web, events=["job_completed"])
        await office.one()
        await office.kit.tick()
        await office.kit.tick()
        (delivery,) = (await office.offices.deliveries(office.id, hook)).items
        assert (delivery.status, delivery.attempts) == ("waiting", 1)
        assert "429" in (delivery.error_message or "")
        now = dt.datetime.fromtimestamp(office.kit.clock.now_us() / 1e6, dt.UTC)
        assert (dt.datetime.fromisoformat(str(delivery.next_attempt_at)) - now).total_seconds() >= 299
        await office.kit.run_all()
        assert await statuses(office, hook) == ["job_completed delivered"]


async def test_unanswered_delivery_has_failed(office: OfficeKit) -> None:
    async with Web(silence, reply(204)) as web:
        (hook,) = await listen(office, web, events=["job_completed"])
        await office.one()
        await office.kit.tick()
        await office.kit.tick()
        shown = await office.offices.webhook(office.id, hook)
        assert (shown.state, shown.consecutive_failures) == ("enabled", 1)
        assert "did not answer within 4 s" in (shown.last_error or "")
        await office.kit.run_all()
        shown = await office.offices.webhook(office.id, hook)
        assert (shown.consecutive_failures, shown.last_success_at is not None) == (0, True)


@pytest.mark.parametrize("rest", ["Content-Length: 100", "Transfer-Encoding: chunked"])
async def test_delivery_succeeds_by_its_status_whatever_the_body(office: OfficeKit, rest: str) -> None:
    for answer in (begun, broken):
        async with Web(answer(f"HTTP/1.1 200 OK\r\n{rest}\r\n\r\n".encode())) as web:
            (hook,) = await listen(office, web, events=["job_completed"])
            await office.one()
            await office.kit.run_all()
            assert (len(web.seen), await statuses(office, hook)) == (1, ["job_completed delivered"])
            assert (await office.offices.webhook(office.id, hook)).consecutive_failures == 0


async def test_a_new_secret_signs_from_the_next_try_on(office: OfficeKit) -> None:
    new = "whsec_" + "B" * 32
    async with Web(reply(500), reply(204)) as web:
        (hook,) = await listen(office, web, events=["job_completed"])
        await office.one()
        await office.kit.tick()
        await office.kit.tick()
        assert await listen(office, web, events=["job_completed"], secret=new) == [hook]
        await office.kit.run_all()
        first, second = web.seen
        Webhook(SECRET).verify(first.body, first.headers)
        # By hand, since the clock has advanced.
        at = dt.datetime.fromtimestamp(int(second.headers["webhook-timestamp"]), dt.UTC)
        signed = Webhook(new).sign(second.headers["webhook-id"], at, second.body.decode())
        assert second.headers["webhook-signature"] == signed


async def test_removed_webhook_gets_nothing_more(office: OfficeKit) -> None:
    async with Web(reply(500)) as web, Web(reply(410)) as gone:
        hooks = await listen(office, web, gone)
        await office.one()
        for _ in range(3):
            await office.kit.tick()
        queues = [f"webhook:{hook}" for hook in hooks]
        assert all([sum((await office.kit.app.counts(queue)).values()) == 3 for queue in queues])
        await office.offices.change(office.id, webhooks=None)
        seen = len(web.seen), len(gone.seen)
        await office.kit.run_all()
        assert (len(web.seen), len(gone.seen)) == seen
        for queue in queues:
            counts = await office.kit.app.counts(queue)
            assert {state.value: number for state, number in counts.items() if number} == {"cancelled": 3}
        assert not any(each.paused for each in await office.kit.app.queues())


async def test_deliveries_under_way_to_who_is_removed_end(office: OfficeKit) -> None:
    """Created by a relay that did not know of the removal yet."""
    async with Web(reply(204)) as web:
        hooks = await listen(office, web)
        await office.one()
        (relay,) = [pool.relay for pool in office.kit.worker.pools if pool.relay is not None]
        await relay.run_once()
        await office.kit.app.store.write(lambda tx: tx.fetch("drop_listeners", json.dumps(hooks)))
        await office.kit.run_all()
        assert web.seen == []


async def test_an_office_takes_its_webhooks_along(office: OfficeKit) -> None:
    async with Web(reply(500)) as web:
        (hook,) = await listen(office, web)
        await office.one()
        await office.kit.tick()
        await office.kit.tick()
        await office.offices.delete(office.id)
        seen = len(web.seen)
        await office.kit.run_all()
        assert len(web.seen) == seen
        counts = await office.kit.app.counts(f"webhook:{hook}")
        assert {state.value for state, number in counts.items() if number} == {"cancelled"}
