"""Many concurrent instances, each with its own connections: the guarantees of an office hold at every moment."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from functools import partial
from typing import Any

import pytest

from hanbeon import App
from hanbeon.clock import MICROS
from hanbeon.domain.job import NO_HANDLER
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Returned
from hanbeon.errors import Changed, Conflict, NotFound
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.queries import JobFilter, list_jobs
from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.verify import verify
from tests.surfaces.offices.office_kit import add_tasks

LEASE_US = 600 * MICROS


@contextlib.asynccontextmanager
async def several(app: App, count: int) -> AsyncIterator[list[Offices]]:
    """Further instances on the same database."""
    add_tasks(app)
    async with contextlib.AsyncExitStack() as stack:
        yield [Offices(await stack.enter_async_context(app.twin())) for _ in range(count)]


async def together(*things: Awaitable[Any]) -> list[Any]:
    return await asyncio.gather(*things, return_exceptions=True)


def _unexpected(answers: list[Any], *expected: type[Exception]) -> list[Any]:
    return [each for each in answers if isinstance(each, Exception) and not isinstance(each, expected)]


async def _claim(offices: Offices, want: int = 10) -> list[Any]:
    store = offices._store
    return (await store.claim(ClaimRequest(1, ["work"], want, LEASE_US))).jobs


async def _end(offices: Offices, jobs: list[Any]) -> None:
    await offices._store.complete([CompletionReport(job.seq, job.fence, Returned("null")) for job in jobs])


async def test_new_limit_applies_at_the_next_claim_elsewhere(app: App) -> None:
    async with several(app, 2) as (here, there):
        office = await here.create(name="x", sessions={"default": "work"})
        await here.create_jobs(office.id, jobs=[{"role": "PO"} for _ in range(9)])
        held = await _claim(there)
        assert len(held) == 3
        await here.change_config(office.id, maxConcurrentJobs=1)
        # What runs goes on, and nothing starts before it is below the new limit.
        for _ in range(2):
            await _end(there, [held.pop()])
            assert await _claim(there) == []
        await _end(there, held)
        (only,) = await _claim(there)
        await here.change_config(office.id, maxConcurrentJobs=9, maxConcurrentByRole={"PO": 2})
        assert len(await _claim(there)) == 1
        await here.change_config(office.id, maxConcurrentByRole={"PO": None})
        assert len(await _claim(there)) == 4
        await _end(there, [only])


async def test_no_claim_exceeds_a_limit_that_changes_all_the_time(app: App) -> None:
    async with several(app, 4) as (first, *others):
        office = await first.create(name="x", sessions={"default": "work"})
        await first.create_jobs(office.id, jobs=[{"role": "FE" if n % 2 else "PO"} for n in range(60)])

        async def change() -> None:
            for n in range(12):
                roles = {"FE": 1 + n % 2} if n % 3 else {"FE": None}
                await first.change_config(office.id, maxConcurrentJobs=1 + n % 4, maxConcurrentByRole=roles)

        async def work(offices: Offices) -> int:
            done = 0
            while (await offices.stats(office.id)).ready:
                jobs = await _claim(offices, 3)
                done += len(jobs)
                await _end(offices, jobs)
            return done

        answers = await together(change(), *(work(each) for each in others))
        assert not _unexpected(answers)
        assert sum(each for each in answers if each is not None) == 60
        # The audit checks every claim against the limits in force at its moment.
        report = await verify(app.store)
        assert report.sound, report.errors


async def test_no_job_misses_a_handler_set_during_its_creation(app: App) -> None:
    async with several(app, 5) as (changer, *makers):
        for _ in range(4):
            office, begun = await changer.create(name="x"), asyncio.Event()

            async def make(offices: Offices, office_id: str = office.id, begun: asyncio.Event = begun) -> None:
                for n in range(6):
                    jobs: list[dict[str, Any]] = [{"key": "a", "role": "FE"}, {"depends_on": ["a"], "priority": n}]
                    await offices.create_jobs(office_id, jobs=jobs)
                    begun.set()

            async def name(office_id: str = office.id, begun: asyncio.Event = begun) -> None:
                await begun.wait()
                await changer.change(office_id, sessions={"FE": "work"})
                await changer.change(office_id, sessions={"default": "hold"})

            assert not _unexpected(await together(name(), *(make(each) for each in makers)))
            found = await app.jobs(queue=f"office:{office.id}")
            assert len(found) == 48
            assert {(job.role, job.task) for job in found} == {("FE", "work"), ("", "hold")}


async def test_jobs_getting_a_handler_may_be_cancelled_or_claimed(app: App) -> None:
    async with several(app, 3) as (changer, canceller, worker):
        office = await changer.create(name="x", config={"maxConcurrentJobs": 1_000})
        jobs = (await changer.create_jobs(office.id, jobs=[{"key": str(n)} for n in range(300)])).jobs

        begun = asyncio.Event()

        async def cancel() -> None:
            for job in jobs[::3]:
                with contextlib.suppress(Conflict):
                    await canceller.cancel(office.id, job.id)
                begun.set()

        async def name() -> None:
            await begun.wait()
            await changer.change(office.id, sessions={"default": "work"})

        async def work() -> None:
            while (await worker.stats(office.id)).ready:
                await _end(worker, await _claim(worker, 50))

        assert not _unexpected(await together(cancel(), name(), work()))
        stats = await worker.stats(office.id)
        assert (stats.done + stats.cancelled, stats.ready) == (300, 0)
        assert stats.cancelled > 0
        report = await verify(app.store)
        assert report.sound, report.errors


async def test_no_job_is_left_in_an_office_that_is_deleted_meanwhile(app: App) -> None:
    async with several(app, 4) as (first, *makers):
        for cancel in (False, True):
            office = await first.create(name="x", sessions={"default": "work"})
            begun = asyncio.Event()

            async def make(offices: Offices, office_id: str = office.id, begun: asyncio.Event = begun) -> None:
                for _ in range(8):
                    await offices.create_jobs(office_id, jobs=[{}])
                    begun.set()

            async def delete(office_id: str = office.id, cancel: bool = cancel, begun: asyncio.Event = begun) -> None:
                await begun.wait()
                await first.delete(office_id, cancel=cancel)

            answers = await together(delete(), *(make(each) for each in makers))
            assert not _unexpected(answers, Conflict, NotFound)
            waiting = JobFilter(queue=f"office:{office.id}", states=(State.PENDING, State.READY))
            unfinished = await app.store.read(partial(list_jobs, filter=waiting))
            gone = answers[0] is None
            assert gone == cancel or isinstance(answers[0], Conflict)
            assert bool(unfinished) != gone


async def test_of_two_who_change_what_they_saw_one_is_refused(app: App) -> None:
    async with several(app, 4) as instances:
        office = await instances[0].create(name="x")
        answers = await together(
            *(each.change_config(office.id, maxRetries=n, expected=office.version) for n, each in enumerate(instances))
        )
        assert not _unexpected(answers, Changed)
        assert sum(isinstance(each, Changed) for each in answers) == 3
        (changed,) = [each for each in answers if not isinstance(each, Exception)]
        assert await instances[0].config(office.id) == changed


@pytest.mark.parametrize("count", [1, 3])
async def test_the_same_batch_sent_twice_at_once_makes_its_jobs_once(app: App, count: int) -> None:
    async with several(app, 4) as instances:
        office = await instances[0].create(name="x", sessions={"default": "work"})
        ids = [f"00000000-0000-7000-8000-00000000000{n}" for n in range(count)]
        jobs = [{"id": job_id, "title": job_id} for job_id in ids]
        answers = await together(*(each.create_jobs(office.id, jobs=jobs) for each in instances))
        assert not _unexpected(answers)
        assert {tuple(job.id for job in each.jobs) for each in answers} == {tuple(ids)}
        assert (await instances[0].stats(office.id)).ready == count


async def test_nothing_is_ever_claimed_from_jobs_without_a_handler(app: App) -> None:
    async with several(app, 1) as (offices,):
        office = await offices.create(name="x")
        await offices.create_jobs(office.id, jobs=[{}])
        async with app.twin() as twin, twin.worker() as worker:
            assert await worker.start_now(f"office:{office.id}") == 0
            assert NO_HANDLER not in {task for each in await twin.instances() for task in each.tasks}
        assert (await offices.stats(office.id)).ready == 1
