"""Each event becomes one delivery per webhook, whichever worker relays it; offices without webhooks cost nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from hanbeon import App, PermanentError
from hanbeon.engine.loop import AGAIN
from hanbeon.errors import InvalidInput, TaskDefinitionError, UnknownTask
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices.delivery.relay import Relay
from hanbeon.surfaces.offices.service import Offices
from hanbeon.testing import TestKit
from tests.outbound.web import Web, reply, silence
from tests.surfaces.offices.delivery.hooks import SECRET, listen, statuses
from tests.surfaces.offices.office_kit import Gates, OfficeKit, add_tasks

NOBODY_S = "https://example.org/hook"


async def _office(app: App, hooks: int) -> tuple[str, list[str]]:
    office = await Offices(app).create(
        name="x", sessions={"default": "work"}, webhooks=[{"url": NOBODY_S, "secret": SECRET}] * hooks
    )
    return office.id, [each.id for each in office.webhooks]


async def _deliveries(app: App, office: str, hook: str) -> list[int]:
    found: list[int] = []
    cursor: str | None = None
    while True:
        page = await Offices(app).deliveries(office, hook, cursor=cursor, limit=1_000)
        found += [each.event_id or 0 for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


async def test_many_relays_make_each_delivery_once(app_url: str) -> None:
    async with App(app_url) as first, App(app_url) as second, App(app_url) as third:
        apps = (first, second, third)
        for app in apps:
            app.task(name="work")(_work)
        office, hooks = await _office(first, 2)
        relays = [Relay(app.store, app.settings, app.clock) for app in apps for _ in range(3)]
        done = asyncio.Event()

        async def relay(relay: Relay) -> None:
            while not done.is_set():
                relay.look_again()
                await relay.run_once()
                await asyncio.sleep(0)

        async def make(app: App) -> None:
            for _ in range(10):
                await Offices(app).create_jobs(office, jobs=[{} for _ in range(20)])

        running = [asyncio.create_task(relay(each)) for each in relays]
        await asyncio.gather(*(make(app) for app in apps))
        done.set()
        await asyncio.gather(*running)
        while await relays[0].run_once() == 0:
            pass
        expected = [
            event.id for event in await _all_events(first) if event.queue == f"office:{office}" and event.job_id
        ]
        assert len(expected) == 600
        for hook in hooks:
            assert sorted(await _deliveries(first, office, hook)) == expected


async def test_a_relay_that_fails_half_way_has_done_nothing(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.task(name="work")(_work)
    office, (hook,) = await _office(app, 1)
    await Offices(app).create_jobs(office, jobs=[{}, {}])
    relay = Relay(app.store, app.settings, app.clock)

    async def broken(tx: Tx, *_: Any) -> Any:
        raise ConnectionResetError

    with monkeypatch.context() as patch:
        patch.setattr("hanbeon.surfaces.offices.delivery.relay.enqueue", broken)
        with pytest.raises(Exception):  # noqa: B017, PT011 - of either database's kind
            await relay.run_once()
    assert await _deliveries(app, office, hook) == []
    await relay.run_once()
    assert len(await _deliveries(app, office, hook)) == 2


async def test_where_nobody_listens_events_cost_the_relay_nothing(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    relay = Relay(app.store, app.settings, app.clock)
    asked = _questions(app, monkeypatch)
    assert await relay.run_once() == relay.quiet_seconds == app.settings.poll * 6
    assert len(asked) == 1
    for _ in range(100):  # Notified of this many events.
        assert 0 < await relay.run_once() <= relay.quiet_seconds
    assert len(asked) == 1
    relay.look_again()
    await relay.run_once()
    assert len(asked) == 2


async def test_quiet_relay_sends_one_query_per_poll(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.task(name="work")(_work)
    await _office(app, 1)
    relay = Relay(app.store, app.settings, app.clock)
    while await relay.run_once() == 0:
        pass
    asked = _questions(app, monkeypatch)
    assert await relay.run_once() == app.settings.poll
    assert len(asked) == 1


async def test_deliveries_tell_nobody_of_themselves(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(office, web)
        await office.one()
        assert await office.kit.run_all() == 4
        assert len(await statuses(office, hook)) == 3


async def test_silent_webhooks_take_no_slot_from_jobs(app_url: str) -> None:
    """A worker with a single slot and only silent webhooks: jobs still run one after the other."""
    async with (
        App(app_url, outbound_allow_private=True, webhook_timeout=60, shutdown_grace=0) as app,
        Web(silence) as web,
    ):
        app.task(name="work")(_work)
        hooks = [{"url": f"{web.url}/{number}", "secret": SECRET} for number in range(5)]
        office = await Offices(app).create(name="x", sessions={"default": "work"}, webhooks=hooks)
        async with app.worker(concurrency=1):
            await (await app.enqueue("work")).result(30)
            await Offices(app).create_jobs(office.id, jobs=[{}])
            async with asyncio.timeout(30):
                await web.asked.wait()
            for _ in range(5):
                await (await app.enqueue("work")).result(30)
            (instance,) = await app.instances()
            assert instance.tasks == ["work"]
            async with asyncio.timeout(30):
                while web.open < 15:  # noqa: ASYNC110 - three events for each of them
                    await asyncio.sleep(0.05)


@pytest.mark.parametrize("name", ["hanbeon.webhook", "hanbeon.notification", "hanbeon.mine"])
async def test_built_in_tasks_are_nobody_s_to_name(office: OfficeKit, name: str) -> None:
    app = office.kit.app
    with pytest.raises(TaskDefinitionError, match="built-in"):
        app.task(name=name)(_work)
    with pytest.raises(TaskDefinitionError, match="built-in"):
        app.command(name, ["true"])
    with pytest.raises(UnknownTask):
        await app.enqueue(name, {"listener": "x", "body": "x"})
    with pytest.raises(UnknownTask):
        await office.offices.change(office.id, sessions={"default": name})
    await office.refused(UnknownTask, {"handler": name})
    assert name not in app.tasks.names()


async def test_explain_knows_who_sends(office: OfficeKit) -> None:
    async with Web(reply(500)) as web:
        (hook,) = await listen(office, web, events=["job_ready"])
        await office.one()
        await office.kit.tick()
        (delivery,) = (await office.offices.deliveries(office.id, hook)).items
        codes = [each.code for each in (await office.kit.app.explain(delivery.id)).reasons]
        assert codes == ["retry_time"]


def _questions(app: App, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the kind of every transaction from now on."""
    asked: list[str] = []
    database: Any = app.store.database

    def watched(word: str, way: Any) -> Any:
        def ask(*args: Any) -> Any:
            asked.append(word)
            return way(*args)

        return ask

    for word in ("read", "transact"):
        monkeypatch.setattr(database, word, watched(word, getattr(database, word)))
    return asked


async def _work() -> None:
    pass


async def _all_events(app: App) -> Sequence[Any]:
    found: list[Any] = []
    while page := await app.events_after(found[-1].id if found else 0):
        found += page
    return found


def test_the_arguments_of_a_delivery_hold_no_secret() -> None:
    from hanbeon.surfaces.offices.delivery.rules import NotificationSpec, WebhookSpec

    for spec in (WebhookSpec(), NotificationSpec()):
        with pytest.raises(InvalidInput):
            spec.signature("x").unpack(json.dumps({"listener": "x", "body": "x", "title": "x", "secret": "x"}))


async def test_large_message_is_cut_and_the_rest_goes_on(kit_url: str) -> None:
    """A failure's message may be longer, as JSON in JSON, than a payload may be."""
    app = App(outbound_allow_private=True, max_payload_bytes=1_024)

    @app.task(retries=0)
    async def fail_at_length() -> None:
        raise PermanentError('"\\\x07' * 1_300)

    add_tasks(app)
    async with TestKit(app, kit_url) as kit:
        office = OfficeKit(kit, Gates())
        made = await office.open(
            webhooks=[{"url": NOBODY_S, "secret": SECRET}],
            notifications=["json://example.org"],
            config={"maxRetries": 0},
        )
        job = await office.one(handler="fail_at_length", title="t" * 900)
        await kit.tick()
        await kit.settle()
        assert (await office.job(job)).status == "failed"
        later = await office.one()
        relay = Relay(app.store, app.settings, app.clock)
        while await relay.run_once() == AGAIN:
            relay.look_again()
        (hook,) = made.webhooks
        found = (await office.offices.deliveries(office.id, hook.id)).items
        assert [each.job_id for each in found if each.type == "job_failed"] == [job.id]
        assert [each.job_id for each in found if each.type == "job_ready"] == [job.id, later.id]
        messages = [each for each in await app.jobs() if each.task.startswith("hanbeon.")]
        assert len(messages) > 3
        assert all(len(each.args.encode()) <= 1_024 for each in messages)
        (body,) = [json.loads(json.loads(each.args)["body"]) for each in messages if "job_failed" in each.args]
        assert body["details"]["error_message"].endswith("…")
        (notification,) = [json.loads(each.args) for each in messages if "title" in json.loads(each.args)]
        assert notification["body"].endswith("…")
