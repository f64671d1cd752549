"""How queues do, as an App tells it."""

from typing import Any

import pytest

from hanbeon import Context, State
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.testing import TestKit


async def test_a_days_work_in_numbers(kit: TestKit) -> None:
    @kit.app.task(queue="mail", retries=1, retry_delay=10)
    async def send(ctx: Context, good: bool) -> None:
        await kit.clock.advance(2)
        if not good:
            raise ValueError("no")

    await kit.app.enqueue_many([send.call(good=True), send.call(good=False)])
    await kit.advance(3)
    await kit.run_all()
    await kit.app.enqueue(send.call(good=True).set(delay=60))
    await kit.advance(1)
    await kit.app.enqueue(send.call(good=True))
    await kit.advance(5)

    mail = (await kit.app.statistics("mail"))["mail"]
    assert mail.states == await kit.app.counts("mail")
    assert {state: count for state, count in mail.states.items() if count} == {
        State.PENDING: 1,
        State.READY: 1,
        State.SUCCEEDED: 1,
        State.FAILED: 1,
    }
    assert (mail.enqueued, mail.started, mail.succeeded, mail.failed) == (4, 3, 1, 1)
    assert (mail.retried, mail.cancelled, mail.timed_out) == (1, 0, 0)
    assert mail.oldest_ready == 5
    assert mail.throughput == pytest.approx(1 / mail.seconds)
    assert mail.run is not None
    assert mail.run.count == 3
    assert mail.wait is not None
    assert mail.wait.max >= 3
    assert await kit.app.statistics() == {"mail": mail}


async def test_retention_leaves_the_numbers_exact(kit: TestKit) -> None:
    job = await kit.make_job(state=State.SUCCEEDED)
    await kit.make_job(state=State.RUNNING)
    await kit.advance(kit.app.settings.retention + 1)
    assert await kit.prune() > 0
    counts = await kit.app.counts()
    assert (counts[State.SUCCEEDED], counts[State.RUNNING]) == (0, 1)
    (event,) = [event for event in await kit.app.events_after(0) if event.type == "pruned"]
    assert (event.queue, event.job_id, event.details["states"]) == ("default", None, {"succeeded": 1})
    assert job.id not in {record.id for record in await kit.app.jobs()}


async def test_rejects_unknown_queue_and_invalid_window(kit: TestKit) -> None:
    with pytest.raises(NotFound, match="there is no queue 'nowhere'"):
        await kit.app.statistics("nowhere")
    wrong: list[Any] = [0, -1, 7 * 86_400 + 1, float("nan"), float("inf"), True, "1", None]
    for window in wrong:
        with pytest.raises(InvalidInput, match="7 days") as caught:
            await kit.app.statistics(window=window)
        assert caught.value.field == "window"
    assert await kit.app.statistics(window=7 * 86_400) == {}
