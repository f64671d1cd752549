"""Lanes that cannot move, however long, block no others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hanbeon import App, State, Task
from tests.storm.fleet import opened, worker_processes
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, until, until_succeeded
from tests.storm.race import enqueue_all, tiny_jobs
from tests.storm.sizes import TIMEOUT, part, short_on, sized

pytestmark = pytest.mark.timeout(TIMEOUT)

MOVING = 300


@short_on("postgres")
async def test_a_lane_that_cannot_move_holds_nobody_up(database_url: str, share: float, tmp_path: Path) -> None:
    """Saturated, paused, or of a task that no worker knows: in their own queues, and among jobs that can run.

    All that is stuck is older and urgent, so that it comes first in the order of claims.
    """
    journal, held, stuck = Journal(tmp_path / "journal"), Journal(tmp_path / "held"), part(sized(1000), share)
    moving = part(MOVING, share)
    async with opened(database_url) as app:
        elsewhere = _task_of_another_app(app)
        gated = app.tasks.get("gated")
        await app.configure_queue("saturated", max_concurrent=1)
        await app.configure_queue("moving", roles={"full": 1})
        await app.pause("paused")
        for queue, role in (("saturated", ""), ("moving", "full")):
            hold = gated.call(journal=str(held), gate=str(tmp_path / "never"))
            await app.enqueue(hold.set(queue=queue, role=role, urgent=True))
            await enqueue_all(app, tiny_jobs(app, journal, stuck, queue=queue, role=role, urgent=True))
        await enqueue_all(app, tiny_jobs(app, journal, stuck, queue="paused", urgent=True))
        for queue in ("unknown", "moving"):
            await enqueue_all(app, [elsewhere.call().set(queue=queue, urgent=True) for _ in range(stuck)])
        with worker_processes(2, database_url, settings={"shutdown_grace": 0}) as started:
            await until("both slots are held", lambda: _both_held(held))
            ids = await enqueue_all(app, tiny_jobs(app, journal, moving, queue="moving"))
            await until_succeeded(app, moving, "moving")
            assert {queue.name: await _counts(app, queue.name) for queue in await app.queues()} == {
                "saturated": {State.RUNNING: 1, State.READY: stuck},
                "moving": {State.RUNNING: 1, State.READY: 2 * stuck, State.SUCCEEDED: moving},
                "paused": {State.READY: stuck},
                "unknown": {State.READY: stuck},
            }
            # Before the first stops: it hands back what holds a slot, and the other runs the next of that lane.
            assert journal.count("ran") == Counter(ids)
            for process in started:
                process.stop()
        await assert_sound(app)


def _task_of_another_app(app: App) -> Task[[], None]:
    """A task that the enqueuing App knows and no worker of this race does."""

    @app.task
    async def elsewhere() -> None:
        raise AssertionError("nobody knows how to do this")

    return elsewhere


async def _counts(app: App, queue: str) -> dict[State, int]:
    return {state: count for state, count in (await app.counts(queue)).items() if count}


async def _both_held(journal: Journal) -> bool | None:
    return True if len(journal.lines("began")) == 2 else None
