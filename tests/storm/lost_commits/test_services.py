"""Whatever the Python API creates, it creates once, even if the answer to the commit is lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from hanbeon import App
from hanbeon.service.tokens import NewToken, all_tokens, create_token, hash_of
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import load
from tests.databases.faults import LossyApp

_HOOK = {"url": "https://example.org/hook", "secret": "whsec_" + "A" * 32}


class Creation(NamedTuple):
    """A call that creates one thing in an office or a chain that exist, and a list in which that is found."""

    create: Callable[[App, Any, Any], Awaitable[Any]]
    found: Callable[[App, Any, Any], Awaitable[Any]]


async def _deliveries(app: App, office: Any, _: Any) -> Any:
    return (await app.offices.deliveries(office.id, office.webhooks[0].id)).items


async def _items(page: Awaitable[Any]) -> Any:
    return (await page).items


CREATIONS: dict[tuple[str, str], Creation] = {
    ("offices", "create"): Creation(
        lambda app, office, chain: app.offices.create(name="Busan"),
        lambda app, office, chain: _named(app.offices.list(), "Busan"),
    ),
    ("offices", "create_jobs"): Creation(
        lambda app, office, chain: app.offices.create_jobs(office.id, jobs=[{"title": "one"}]),
        lambda app, office, chain: _items(app.offices.jobs(office.id)),
    ),
    ("offices", "test_webhook"): Creation(
        lambda app, office, chain: app.offices.test_webhook(office.id, office.webhooks[0].id), _deliveries
    ),
    ("engine", "enqueue"): Creation(
        lambda app, office, chain: app.engine.enqueue(task="nothing"),
        lambda app, office, chain: _items(app.engine.jobs(task="nothing")),
    ),
    ("schedules", "create"): Creation(
        lambda app, office, chain: app.schedules.create("nothing", cron="0 9 * * *"),
        lambda app, office, chain: _items(app.schedules.list()),
    ),
    ("schedules", "run"): Creation(
        lambda app, office, chain: app.schedules.run("nothing"),
        lambda app, office, chain: _items(app.schedules.executions()),
    ),
    ("chains", "create"): Creation(
        lambda app, office, chain: app.chains.create(retries=7),
        lambda app, office, chain: _with_retries(app, 7),
    ),
    ("chains", "enqueue"): Creation(
        lambda app, office, chain: app.chains.enqueue(chain.queue_id),
        lambda app, office, chain: _jobs(app, chain),
    ),
    ("chains", "run"): Creation(
        lambda app, office, chain: app.chains.run(chain.queue_id),
        lambda app, office, chain: _items(app.chains.runs(chain.queue_id)),
    ),
}


async def _named(page: Awaitable[Any], name: str) -> Any:
    return [each for each in (await page).items if each.name == name]


async def _with_retries(app: App, retries: int) -> Any:
    return [each for each in (await app.chains.list()).items if each.retries == retries]


async def _jobs(app: App, chain: Any) -> Any:
    return (await app.chains.get(chain.queue_id)).jobs[1:]


async def _nothing() -> None: ...


def test_every_creating_method_finds_out() -> None:
    """The other surfaces have the cases of tests/server/test_unknown_outcomes.py, by the same ids."""
    for surface in SURFACES:
        for operation in surface.operations:
            if operation.creates:
                assert hasattr(getattr(load(surface.service), operation.call), "__wrapped__"), operation.path


async def test_lost_answer_of_a_service_is_found_out(lossy_app: LossyApp) -> None:
    app, faults, _ = lossy_app
    app.task(name="nothing")(_nothing)
    await app.schedules.create("nothing", cron="0 9 * * *", name="known")
    await app.schedules.delete("known")
    for operation, creation in CREATIONS.items():
        office = await app.offices.create(name="Seoul", webhooks=[_HOOK])
        chain = await app.chains.create(jobs=[{}])
        before = len(await creation.found(app, office, chain))
        faults.after()
        await creation.create(app, office, chain)
        assert faults.struck, operation
        assert len(await creation.found(app, office, chain)) == before + 1, operation


async def test_lost_answer_of_a_token_is_found_out(lossy_app: LossyApp) -> None:
    """The first one turns authentication on: if nobody knew its text, everybody would be locked out."""
    app, faults, _ = lossy_app
    created: list[NewToken] = []
    for lose in (faults.after, faults.before):
        lose()
        made = await create_token(app.store, "ada", "admin")
        assert faults.struck
        created.append(made)
        known = await all_tokens(app.store)
        assert known == {hash_of(each.text): each.record for each in created}
