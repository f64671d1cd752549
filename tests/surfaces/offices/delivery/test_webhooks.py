"""Events go to webhooks: each of them, signed, the same bytes at every try."""

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
from tests.surfaces.offices.office_kit import Desk

EVENTS = ["job_ready", "job_started", "job_completed"]


async def _events(desk: Desk) -> list[SchedulerEvent]:
    found: list[SchedulerEvent] = []
    after, more = 0, True
    while more:
        page = await desk.offices.events(desk.id, after)
        after, more = page.after, page.more
        found += page.items
    return found


async def test_every_event_is_sent_once_and_is_the_one_that_others_see(desk: Desk) -> None:
    async with Web(reply(204)) as web:
        await listen(desk, web)
        await desk.one()
        await desk.kit.run_all()
        assert sorted(types(web)) == sorted(EVENTS)  # Several are on their way at once: which comes first is open.
        sent = [msgspec.json.decode(seen.body, type=SchedulerEvent) for seen in web.seen]
        assert sorted(sent, key=lambda event: event.id) == await _events(desk)
        assert [(seen.method, seen.target) for seen in web.seen] == [("POST", "/hook")] * 3
        assert len(set(ids(web.seen))) == 3
        await desk.kit.run_all()
        assert len(web.seen) == 3


async def test_what_is_sent_is_signed_and_nothing_else_passes(desk: Desk) -> None:
    async with Web(reply(204)) as web:
        await listen(desk, web, events=["job_ready"])
        await desk.one()
        await desk.kit.tick()
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


async def test_a_webhook_gets_what_it_asked_for_from_when_it_was_made(desk: Desk) -> None:
    await desk.one()
    await desk.kit.run_all()
    async with Web(reply(204)) as web:
        await listen(desk, web, events=["job_failed", "job_retrying"])
        await desk.make({}, {"handler": "fail", "max_retries": 1})
        await desk.kit.run_all()
        assert types(web) == ["job_retrying", "job_failed"]


async def test_another_office_s_events_are_not_sent(desk: Desk) -> None:
    async with Web(reply(204)) as web:
        await listen(desk, web)
        other = await desk.offices.create({"name": "other", "sessions": {"default": "work"}})
        await desk.offices.create_jobs(other.id, {"jobs": [{}]})
        await desk.kit.app.enqueue("work")
        assert await desk.kit.run_all() == 2
        assert web.seen == []


async def test_a_delivery_is_tried_again_with_the_same_id_and_bytes(desk: Desk) -> None:
    async with Web(reply(500), reply(302, headers={"Location": "/elsewhere"}), reply(400), reply(204)) as web:
        (hook,) = await listen(desk, web, events=["job_completed"])
        await desk.one()
        await desk.kit.run_all()
        assert len(web.seen) == 4
        assert len(set(ids(web.seen))) == 1
        assert len({seen.body for seen in web.seen}) == 1
        assert {seen.target for seen in web.seen} == {"/hook"}  # A redirect is not followed.
        sent_at = [int(seen.headers["webhook-timestamp"]) for seen in web.seen]
        waits = [later - earlier for earlier, later in itertools.pairwise(sent_at)]
        for wait, least in zip(waits, (10, 20, 40), strict=True):
            assert least <= wait <= least * 1.2 + 1
        (delivery,) = (await desk.offices.deliveries(desk.id, hook)).items
        assert (delivery.id, delivery.status, delivery.attempts) == (ids(web.seen)[0], "delivered", 4)
        for seen in web.seen:
            assert seen.headers["webhook-signature"].startswith("v1,")


async def test_who_asks_to_be_left_alone_is(desk: Desk) -> None:
    async with Web(reply(429, headers={"Retry-After": "300"}), reply(204)) as web:
        (hook,) = await listen(desk, web, events=["job_completed"])
        await desk.one()
        await desk.kit.tick()
        await desk.kit.tick()
        (delivery,) = (await desk.offices.deliveries(desk.id, hook)).items
        assert (delivery.status, delivery.attempts) == ("waiting", 1)
        assert "429" in (delivery.error_message or "")
        now = dt.datetime.fromtimestamp(desk.kit.clock.now_us() / 1e6, dt.UTC)
        assert (dt.datetime.fromisoformat(str(delivery.next_attempt_at)) - now).total_seconds() >= 299
        await desk.kit.run_all()
        assert await statuses(desk, hook) == ["job_completed delivered"]


async def test_who_does_not_answer_has_failed(desk: Desk) -> None:
    async with Web(silence, reply(204)) as web:
        (hook,) = await listen(desk, web, events=["job_completed"])
        await desk.one()
        await desk.kit.tick()
        await desk.kit.tick()
        shown = await desk.offices.webhook(desk.id, hook)
        assert (shown.state, shown.consecutive_failures) == ("enabled", 1)
        assert "did not answer within 4 s" in (shown.last_error or "")
        await desk.kit.run_all()
        shown = await desk.offices.webhook(desk.id, hook)
        assert (shown.consecutive_failures, shown.last_success_at is not None) == (0, True)


@pytest.mark.parametrize("rest", ["Content-Length: 100", "Transfer-Encoding: chunked"])
async def test_an_event_is_taken_with_the_status_whatever_comes_behind_it(desk: Desk, rest: str) -> None:
    for said in (begun, broken):
        async with Web(said(f"HTTP/1.1 200 OK\r\n{rest}\r\n\r\n".encode())) as web:
            (hook,) = await listen(desk, web, events=["job_completed"])
            await desk.one()
            await desk.kit.run_all()
            assert (len(web.seen), await statuses(desk, hook)) == (1, ["job_completed delivered"])
            assert (await desk.offices.webhook(desk.id, hook)).consecutive_failures == 0


async def test_a_new_secret_signs_from_the_next_try_on(desk: Desk) -> None:
    new = "whsec_" + "B" * 32
    async with Web(reply(500), reply(204)) as web:
        (hook,) = await listen(desk, web, events=["job_completed"])
        await desk.one()
        await desk.kit.tick()
        await desk.kit.tick()
        assert await listen(desk, web, events=["job_completed"], secret=new) == [hook]
        await desk.kit.run_all()
        first, second = web.seen
        Webhook(SECRET).verify(first.body, first.headers)
        # By hand, for the clock has moved on.
        at = dt.datetime.fromtimestamp(int(second.headers["webhook-timestamp"]), dt.UTC)
        signed = Webhook(new).sign(second.headers["webhook-id"], at, second.body.decode())
        assert second.headers["webhook-signature"] == signed


async def test_what_is_removed_is_sent_nothing_more(desk: Desk) -> None:
    async with Web(reply(500)) as web, Web(reply(410)) as gone:
        hooks = await listen(desk, web, gone)
        await desk.one()
        for _ in range(3):
            await desk.kit.tick()
        queues = [f"webhook:{hook}" for hook in hooks]
        assert all([sum((await desk.kit.app.counts(queue)).values()) == 3 for queue in queues])
        await desk.offices.change(desk.id, {"webhooks": None})
        seen = len(web.seen), len(gone.seen)
        await desk.kit.run_all()
        assert (len(web.seen), len(gone.seen)) == seen
        for queue in queues:
            counts = await desk.kit.app.counts(queue)
            assert {state.value: number for state, number in counts.items() if number} == {"cancelled": 3}
        assert not any(each.paused for each in await desk.kit.app.queues())


async def test_deliveries_under_way_to_who_is_removed_end(desk: Desk) -> None:
    """Made by a relay that did not know yet."""
    async with Web(reply(204)) as web:
        hooks = await listen(desk, web)
        await desk.one()
        (relay,) = [pool.relay for pool in desk.kit.worker.pools if pool.relay is not None]
        await relay.run_once()
        await desk.kit.app.store.write(lambda tx: tx.fetch("drop_listeners", json.dumps(hooks)))
        await desk.kit.run_all()
        assert web.seen == []


async def test_an_office_takes_its_webhooks_along(desk: Desk) -> None:
    async with Web(reply(500)) as web:
        (hook,) = await listen(desk, web)
        await desk.one()
        await desk.kit.tick()
        await desk.kit.tick()
        await desk.offices.delete(desk.id)
        seen = len(web.seen)
        await desk.kit.run_all()
        assert len(web.seen) == seen
        counts = await desk.kit.app.counts(f"webhook:{hook}")
        assert {state.value for state, number in counts.items() if number} == {"cancelled"}
