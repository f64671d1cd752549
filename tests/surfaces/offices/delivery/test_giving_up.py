"""A webhook that never answers is disabled; deliveries it missed wait, and are sent when it is enabled again."""

from __future__ import annotations

import pytest

from hanbeon.errors import OfficeNotFound, WebhookNotFound
from hanbeon.surfaces.offices.delivery.rules import is_to_be_disabled
from tests.outbound.web import Web, reply
from tests.surfaces.offices.delivery.hooks import SECRET, ids, listen, statuses, types
from tests.surfaces.offices.office_kit import OfficeKit

MISSING = "00000000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("failures", "seconds", "given_up"),
    [(9, 10_000, False), (10, 599, False), (10, 600, True), (500, 0, False), (0, 0, False)],
)
def test_it_takes_both_many_failures_and_a_long_time(failures: int, seconds: int, given_up: bool) -> None:
    assert is_to_be_disabled(failures, seconds, 600) is given_up


async def test_gone_webhook_is_disabled_at_once_without_loss(
    office: OfficeKit, caplog: pytest.LogCaptureFixture
) -> None:
    async with Web(reply(410), reply(204)) as web:
        (hook,) = await listen(office, web)
        await office.one()
        await office.kit.run_all()
        (logged,) = [each.getMessage() for each in caplog.records if "webhook_disabled" in each.getMessage()]
        assert hook in logged
        assert office.id in logged
        shown = (await office.offices.get(office.id)).webhooks[0]
        assert (shown.state, shown.disabled_at is None) == ("disabled", False)
        assert "410 Gone" in (shown.last_error or "")
        tried = len(web.seen)
        assert tried <= 3  # Others may have been in flight.
        await office.one()
        await office.kit.run_all()
        assert len(web.seen) == tried
        waiting = [each for each in await statuses(office, hook) if each.endswith("waiting")]
        assert len(waiting) >= 5
        enabled = await office.offices.enable_webhook(office.id, hook)
        assert (enabled.state, enabled.consecutive_failures, enabled.disabled_at) == ("enabled", 0, None)
        await office.kit.run_all()
        assert sorted(await statuses(office, hook)) == sorted(
            [f"{kind} delivered" for kind in ("job_ready", "job_started", "job_completed")] * 2
        )
        delivered = [each.id for each in (await office.offices.deliveries(office.id, hook)).items]
        assert set(ids(web.seen)) == set(delivered)


async def test_it_is_disabled_after_failing_for_long_and_not_before(office: OfficeKit) -> None:
    async with Web(reply(503)) as web:
        (hook,) = await listen(office, web)
        await office.make(*[{} for _ in range(10)])
        for _ in range(8):
            await office.kit.tick()
        shown = await office.offices.webhook(office.id, hook)
        assert shown.consecutive_failures >= 10
        assert shown.state == "enabled"  # All of that took no time.
        await office.kit.advance(office.kit.app.settings.webhook_patience)
        await office.kit.tick()
        assert (await office.offices.webhook(office.id, hook)).state == "disabled"
        tried = len(web.seen)
        await office.kit.run_all()
        assert len(web.seen) == tried


async def test_a_single_event_disables_it_with_its_last_try_and_stays(office: OfficeKit) -> None:
    async with Web(*[reply(503)] * 13, reply(204)) as web:
        (hook,) = await listen(office, web, events=["job_completed"])
        await _patient(office)
        await office.one()
        await office.kit.run_all()
        assert len(web.seen) == 13
        assert await statuses(office, hook) == ["job_completed waiting"]
        assert (await office.offices.webhook(office.id, hook)).state == "disabled"
        await office.offices.enable_webhook(office.id, hook)
        await office.kit.run_all()
        assert await statuses(office, hook) == ["job_completed delivered"]


async def test_one_failing_event_disables_no_webhook(office: OfficeKit) -> None:
    """The first one is retried between others, which succeed."""
    async with Web(reply(400)) as web:
        (hook,) = await listen(office, web, events=["job_completed"])
        await _patient(office)
        await office.one()
        await office.kit.tick()
        await office.kit.tick()
        poison = ids(web.seen)[0]
        web.answer = lambda seen: reply(400 if seen.headers["webhook-id"] == poison else 204)
        await office.one()
        await office.kit.run_all()
        assert (await office.offices.webhook(office.id, hook)).state == "enabled"
        assert await statuses(office, hook) == ["job_completed failed", "job_completed delivered"]
        assert ids(web.seen).count(poison) == 13


async def test_events_long_after_disabling_are_not_kept(office: OfficeKit) -> None:
    async with Web(reply(410)) as web:
        (hook,) = await listen(office, web, events=["job_completed"])
        await office.one()
        await office.kit.run_all()
        await office.kit.advance(office.kit.app.settings.retention + 1)
        await office.one()
        await office.kit.run_all()
        assert await statuses(office, hook) == ["job_completed waiting"]


async def test_a_dead_one_delays_no_other(office: OfficeKit) -> None:
    async with Web(reply(410)) as dead, Web(reply(204)) as alive:
        await listen(office, dead, alive)
        await office.one()
        await office.kit.run_all()
        assert sorted(types(alive)) == ["job_completed", "job_ready", "job_started"]


async def test_a_change_of_the_office_keeps_who_is_known(office: OfficeKit) -> None:
    async with Web(reply(410)) as web, Web(reply(204)) as other:
        (hook,) = await listen(office, web)
        await office.one()
        await office.kit.run_all()
        url = f"{web.url}/hook"
        changed = await office.offices.change(
            office.id,
            webhooks=[{"url": f"{other.url}/new", "secret": SECRET}, {"url": url, "events": ["job_failed"]}],
        )
        new, kept = changed.webhooks
        assert (kept.id, kept.state, kept.events) == (hook, "disabled", ["job_failed"])
        assert new.id != hook
        # At another address it is somebody else who answers.
        moved = await office.offices.change(office.id, webhooks=[{"id": hook, "url": f"{other.url}/moved"}])
        assert [(each.id, each.state) for each in moved.webhooks] == [(hook, "enabled")]
        await office.kit.run_all()
        assert [seen.target for seen in other.seen] == ["/moved"] * 3
        assert (await office.offices.change(office.id, name="as before")).webhooks[0].id == hook


async def test_a_webhook_of_another_office_is_not_found(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(office, web)
    other = await office.offices.create(name="other")
    for office_id, webhook_id in ((other.id, hook), (office.id, MISSING), (office.id, "x"), (office.id, "\x00")):
        for asked in (office.offices.webhook, office.offices.enable_webhook, office.offices.deliveries):
            with pytest.raises(WebhookNotFound):
                await asked(office_id, webhook_id)
    with pytest.raises(OfficeNotFound):
        await office.offices.webhook(MISSING, hook)


async def _patient(office: OfficeKit) -> None:
    """Configure the worker to disable a webhook only at the last attempt of an event."""
    http = office.kit.worker._executors["http"]
    http.settings = office.kit.app.settings.model_copy(update={"webhook_patience": 1e9})  # type: ignore[attr-defined]
