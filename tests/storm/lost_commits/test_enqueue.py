"""Jobs whose creation was not answered: found under their ids, or reported to the caller with them."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from hanbeon import App, SyncApp
from hanbeon.errors import DatabaseUnavailable
from tests.databases.faults import LossyApp
from tests.databases.proxy import fault_proxy


async def _nothing() -> None: ...


async def test_lost_answer_of_enqueue_is_found_out(lossy_app: LossyApp) -> None:
    app, faults, _ = lossy_app
    app.task(name="nothing")(_nothing)
    for number in range(3):
        faults.after()
        job = await app.enqueue("nothing")
        assert faults.struck, number
        assert (await app.store.job(job.id)).id == job.id
    assert len(await app.jobs()) == 3


async def test_enqueue_without_any_answer_tells_the_ids(postgres_url: str) -> None:
    async with AsyncExitStack() as proxies:
        proxy = await proxies.enter_async_context(fault_proxy(postgres_url))
        async with App(proxy.url) as app:
            task = app.task(name="nothing")(_nothing)
            batch = [task.call() for _ in range(2)]
            await app.enqueue_many(batch)
            await proxies.aclose()
            with pytest.raises(DatabaseUnavailable) as raised:
                await app.enqueue_many(batch)
            assert raised.value.ids == tuple(each.id for each in batch)


async def test_sync_app_finds_out_as_well(postgres_url: str) -> None:
    async with fault_proxy(postgres_url) as proxy:

        def enqueue() -> tuple[int, bool]:
            app = App(proxy.url)
            app.task(name="nothing")(_nothing)
            with SyncApp(app) as sync:
                sync.enqueue("nothing")
                fault = proxy.cut_after()
                sync.enqueue("nothing")
                return len(sync.jobs()), fault.struck.is_set()

        assert await asyncio.to_thread(enqueue) == (2, True)
