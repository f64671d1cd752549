"""Contexts of traces are written with their jobs by every path, once, and go with them."""

import pytest

from hanbeon import App
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.traces import traces_of

_MANY = 60


async def test_contexts_come_and_go_with_their_jobs(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    app = App(database_url, tracing=True)

    @app.task
    async def work(number: int) -> None:
        pass

    async def contexts(of: App) -> dict[int, str]:
        return await of.store.read(lambda tx: traces_of(tx, seqs))

    async with app:
        single = await app.enqueue(work.call(0).set(idempotency_key="once"))
        async with app.transaction() as tx:
            inside = await app.enqueue("work", {"number": 1}, transaction=tx)
        many = await app.enqueue_many([work.call(number) for number in range(_MANY)])
        made = [await job.record() for job in (single, inside, *many)]
        seqs = [job.seq for job in made]
        found = await contexts(app)
        assert sorted(found) == sorted(seqs)
        assert len({found[job.seq] for job in made[2:]}) == 1, "a batch has one cause"
        assert len(set(found.values())) == 3

        assert (await app.enqueue(work.call(0).set(idempotency_key="once"))).id == single.id
        assert await contexts(app) == found
        instance = 0
        claimed = await app.store.claim(ClaimRequest(instance, ["work"], 1, 60_000_000))
        assert [job.trace for job in claimed.jobs] == [found[job.seq] for job in claimed.jobs]

    async with App(database_url) as off:
        off.task(name="work")(work.function)
        plain = await off.enqueue("work", {"number": 2})
        seqs.append((await plain.record()).seq)
        assert await contexts(off) == found
        await off.cancel_where(states=["ready"])
        await off.store.prune(-1, 1_000)
        assert list(await contexts(off)) == [job.seq for job in claimed.jobs]
