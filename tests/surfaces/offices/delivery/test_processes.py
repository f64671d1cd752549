"""Killed workers, concurrent workers, and webhooks that are dead for a whole run: nothing is lost."""

from __future__ import annotations

import asyncio
import random
import socket

import pytest
from standardwebhooks import Webhook

from tests.databases.ports import free_port
from tests.outbound.web import Peer, Web, reply, silence
from tests.storm.fleet import WorkerProcess, worker_processes
from tests.storm.sizes import part, short_on
from tests.surfaces.offices.delivery.hooks import SECRET, ids
from tests.surfaces.offices.delivery.webhook_run import MODULE, SETTINGS, WebhookRun, until, webhook_run

JOBS = 60
# Where no worker is killed, none may be mistaken for dead on a busy machine.
UNHURRIED = {"lease": 30.0}


async def _slowly(peer: Peer) -> None:
    """Accept an event, and respond after a while in which its sender may die."""
    await asyncio.sleep(0.05)
    await peer.send(reply(204))


@pytest.mark.chaos
@short_on("postgres")
async def test_killed_workers_lose_and_duplicate_no_delivery(database_url: str, share: float) -> None:
    rng, jobs = random.Random(7), part(JOBS, share, least=15)
    async with Web(_slowly) as web, webhook_run(database_url, web) as run:
        (hook,) = run.hooks
        workers = [WorkerProcess.start(database_url, MODULE, settings=SETTINGS) for _ in range(2)]
        try:
            await run.make(jobs, pause=0.02)
            for _ in range(part(4, share)):
                workers[0].wait_ready()
                heard = len(web.seen)

                async def more(heard: int = heard) -> bool:
                    return len(web.seen) > heard + 5 or await run.all_delivered(hook)

                await until(more, "deliveries go on")
                victim = workers.pop(rng.randrange(len(workers)))
                victim.kill()
                victim.end()
                workers.append(WorkerProcess.start(database_url, MODULE, settings=SETTINGS))
            await until(lambda: _all_done(run, jobs), "all jobs are done")
            await until(lambda: run.all_delivered(hook), "all events are delivered")
        finally:
            for worker in workers:
                worker.end()
        deliveries = await run.assert_one_delivery_for_each_event(hook)
        assert set(ids(web.seen)) == {each.id for each in deliveries}
        # A delivery whose response was lost came again: under the same id, with the same bytes.
        bodies = {(seen.headers["webhook-id"], seen.body) for seen in web.seen}
        assert len(bodies) == len(deliveries)
        for seen in web.seen:
            Webhook(SECRET).verify(seen.body, seen.headers)


@short_on("postgres")
async def test_two_workers_make_one_delivery_of_each_event(database_url: str, share: float) -> None:
    jobs = 4 * part(JOBS // 4, share, least=3)
    async with Web(reply(204)) as first, Web(reply(204)) as second, webhook_run(database_url, first, second) as run:
        with worker_processes(2, database_url, module=MODULE, settings=SETTINGS | UNHURRIED):
            await asyncio.gather(*(run.make(jobs // 4) for _ in range(4)))
            for web, hook in zip((first, second), run.hooks, strict=True):
                await until(lambda: _all_done(run, jobs), "all jobs are done")
                await until(lambda hook=hook: run.all_delivered(hook), "all events are delivered")  # type: ignore[misc]
                deliveries = await run.assert_one_delivery_for_each_event(hook)
                # No worker was killed: nothing came twice.
                assert sorted(ids(web.seen)) == sorted(each.id for each in deliveries)


@short_on("sqlite")
async def test_dead_webhooks_slow_down_and_lose_nothing(database_url: str, share: float) -> None:
    """One refuses connections, one accepts them and is silent; a third works. Hundreds of jobs are not affected."""
    jobs = part(200, share)
    settings = SETTINGS | UNHURRIED | {"webhook_timeout": 5.0, "webhook_patience": 1.0}
    with socket.socket() as held:
        held.bind(("127.0.0.1", free_port()))  # Bound and not listening: connections are refused.
        port = held.getsockname()[1]
        async with (
            Web(silence) as silent,
            Web(reply(204)) as well,
            webhook_run(database_url, f"http://127.0.0.1:{port}/hook", silent, well) as run,
        ):
            dead, mute, alive = run.hooks
            with worker_processes(1, database_url, module=MODULE, settings=settings, concurrency=4):
                await run.make(jobs)
                await until(lambda: _all_done(run, jobs), "all jobs are done")
                await until(lambda: run.all_delivered(alive), "the one that is well has heard all")

                async def is_shown() -> bool:
                    webhooks = {each.id: each for each in (await run.offices.get(run.office)).webhooks}
                    return webhooks[dead].state == "disabled"

                await until(is_shown, "the dead one is disabled")
                webhooks = {each.id: each for each in (await run.offices.get(run.office)).webhooks}
                assert "no connection" in (webhooks[dead].last_error or "")
                assert (webhooks[alive].state, webhooks[alive].consecutive_failures) == ("enabled", 0)
                assert webhooks[mute].last_success_at is None
                assert not any(each.status == "delivered" for each in await run.deliveries(dead))
                held.close()
                async with Web(reply(204), port=port) as back:
                    await run.offices.enable_webhook(run.office, dead)
                    await until(lambda: run.all_delivered(dead), "all that it missed has come")
                    deliveries = await run.assert_one_delivery_for_each_event(dead)
                    assert set(ids(back.seen)) == {each.id for each in deliveries}
                    assert len(deliveries) == 3 * jobs


async def _all_done(run: WebhookRun, jobs: int) -> bool:
    return await run.done() == jobs
