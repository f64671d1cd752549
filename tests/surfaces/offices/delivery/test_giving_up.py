"""A webhook that never answers is disabled; what it missed waits, and goes out when it is enabled again."""

from __future__ import annotations

import pytest

from hanbeon.domain.delivery import is_to_be_disabled
from hanbeon.errors import OfficeNotFound, WebhookNotFound
from tests.outbound.web import Web, reply
from tests.surfaces.offices.delivery.hooks import SECRET, ids, listen, statuses, types
from tests.surfaces.offices.office_kit import Desk

MISSING = "00000000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("failures", "seconds", "given_up"),
    [(9, 10_000, False), (10, 599, False), (10, 600, True), (500, 0, False), (0, 0, False)],
)
def test_it_takes_both_many_failures_and_a_long_time(failures: int, seconds: int, given_up: bool) -> None:
    assert is_to_be_disabled(failures, seconds, 600) is given_up


async def test_gone_webhook_is_disabled_at_once_without_loss(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    async with Web(reply(410), reply(204)) as web:
        (hook,) = await listen(desk, web)
        await desk.one()
        await desk.kit.run_all()
        (logged,) = [each.getMessage() for each in caplog.records if "webhook_disabled" in each.getMessage()]
        assert hook in logged
        assert desk.id in logged
        shown = (await desk.offices.get(desk.id)).webhooks[0]
        assert (shown.state, shown.disabled_at is None) == ("disabled", False)
        assert "410 Gone" in (shown.last_error or "")
        tried = len(web.seen)
        assert tried <= 3  # Others may have been on their way.
        await desk.one()
        await desk.kit.run_all()
        assert len(web.seen) == tried
        waiting = [each for each in await statuses(desk, hook) if each.endswith("waiting")]
        assert len(waiting) >= 5
        enabled = await desk.offices.enable_webhook(desk.id, hook)
        assert (enabled.state, enabled.consecutive_failures, enabled.disabled_at) == ("enabled", 0, None)
        await desk.kit.run_all()
        assert sorted(await statuses(desk, hook)) == sorted(
            [f"{kind} delivered" for kind in ("job_ready", "job_started", "job_completed")] * 2
        )
        delivered = [each.id for each in (await desk.offices.deliveries(desk.id, hook)).items]
        assert set(ids(web.seen)) == set(delivered)


async def test_it_is_disabled_after_failing_for_long_and_not_before(desk: Desk) -> None:
    async with Web(reply(503)) as web:
        (hook,) = await listen(desk, web)
        await desk.make(*[{} for _ in range(10)])
        for _ in range(8):
            await desk.kit.tick()
        shown = await desk.offices.webhook(desk.id, hook)
        assert shown.consecutive_failures >= 10
        assert shown.state == "enabled"  # All of that took no time.
        await desk.kit.advance(desk.kit.app.settings.webhook_patience)
        await desk.kit.tick()
        assert (await desk.offices.webhook(desk.id, hook)).state == "disabled"
        tried = len(web.seen)
        await desk.kit.run_all()
        assert len(web.seen) == tried


async def test_a_single_event_disables_it_with_its_last_try_and_stays(desk: Desk) -> None:
    async with Web(*[reply(503)] * 13, reply(204)) as web:
        (hook,) = await listen(desk, web, events=["job_completed"])
        await _patient(desk)
        await desk.one()
        await desk.kit.run_all()
        assert len(web.seen) == 13
        assert await statuses(desk, hook) == ["job_completed waiting"]
        assert (await desk.offices.webhook(desk.id, hook)).state == "disabled"
        await desk.offices.enable_webhook(desk.id, hook)
        await desk.kit.run_all()
        assert await statuses(desk, hook) == ["job_completed delivered"]


async def test_one_failing_event_disables_no_webhook(desk: Desk) -> None:
    """The first one comes again and again between others, which pass."""
    async with Web(reply(400)) as web:
        (hook,) = await listen(desk, web, events=["job_completed"])
        await _patient(desk)
        await desk.one()
        await desk.kit.tick()
        await desk.kit.tick()
        poison = ids(web.seen)[0]
        web.answer = lambda seen: reply(400 if seen.headers["webhook-id"] == poison else 204)
        await desk.one()
        await desk.kit.run_all()
        assert (await desk.offices.webhook(desk.id, hook)).state == "enabled"
        assert await statuses(desk, hook) == ["job_completed failed", "job_completed delivered"]
        assert ids(web.seen).count(poison) == 13


async def test_events_long_after_disabling_are_not_kept(desk: Desk) -> None:
    async with Web(reply(410)) as web:
        (hook,) = await listen(desk, web, events=["job_completed"])
        await desk.one()
        await desk.kit.run_all()
        await desk.kit.advance(desk.kit.app.settings.retention + 1)
        await desk.one()
        await desk.kit.run_all()
        assert await statuses(desk, hook) == ["job_completed waiting"]


async def test_a_dead_one_delays_no_other(desk: Desk) -> None:
    async with Web(reply(410)) as dead, Web(reply(204)) as alive:
        await listen(desk, dead, alive)
        await desk.one()
        await desk.kit.run_all()
        assert sorted(types(alive)) == ["job_completed", "job_ready", "job_started"]


async def test_a_change_of_the_office_keeps_who_is_known(desk: Desk) -> None:
    async with Web(reply(410)) as web, Web(reply(204)) as other:
        (hook,) = await listen(desk, web)
        await desk.one()
        await desk.kit.run_all()
        url = f"{web.url}/hook"
        changed = await desk.offices.change(
            desk.id,
            {"webhooks": [{"url": f"{other.url}/new", "secret": SECRET}, {"url": url, "events": ["job_failed"]}]},
        )
        new, kept = changed.webhooks
        assert (kept.id, kept.state, kept.events) == (hook, "disabled", ["job_failed"])
        assert new.id != hook
        # At another address it is somebody else who answers.
        moved = await desk.offices.change(desk.id, {"webhooks": [{"id": hook, "url": f"{other.url}/moved"}]})
        assert [(each.id, each.state) for each in moved.webhooks] == [(hook, "enabled")]
        await desk.kit.run_all()
        assert [seen.target for seen in other.seen] == ["/moved"] * 3
        assert (await desk.offices.change(desk.id, {"name": "as before"})).webhooks[0].id == hook


async def test_a_webhook_of_another_office_is_not_found(desk: Desk) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(desk, web)
    other = await desk.offices.create({"name": "other"})
    for office_id, webhook_id in ((other.id, hook), (desk.id, MISSING), (desk.id, "x"), (desk.id, "\x00")):
        for asked in (desk.offices.webhook, desk.offices.enable_webhook, desk.offices.deliveries):
            with pytest.raises(WebhookNotFound):
                await asked(office_id, webhook_id)
    with pytest.raises(OfficeNotFound):
        await desk.offices.webhook(MISSING, hook)


async def _patient(desk: Desk) -> None:
    """A worker that gives a webhook up for nothing but the last try of an event."""
    http = desk.kit.worker._executors["http"]
    http.settings = desk.kit.app.settings.model_copy(update={"webhook_patience": 1e9})  # type: ignore[attr-defined]
