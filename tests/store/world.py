"""A store whose time is in the test's hands, and short words for what tests do with it."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
import uuid_utils

from hanbeon.clock import MICROS
from hanbeon.domain.events import Event
from hanbeon.domain.job import Claimed, JobRecord, NewJob
from hanbeon.domain.lifecycle import LIFECYCLE, Reason, State, is_legal
from hanbeon.domain.outcome import Outcome, Returned
from hanbeon.domain.retry import RetryPolicy
from hanbeon.domain.statistics import QueueStatistics, all_states
from hanbeon.domain.tally import Stock
from hanbeon.store.backends import open_store
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.dialect import Dialect
from hanbeon.store.operations import tallies
from hanbeon.store.operations.cancel import mark_done, reprioritise, requeue
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import Completed, CompletionReport, Recovered, recover
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.store.operations.events import events_after
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.lease import Lease, note_overdue
from hanbeon.store.operations.overview import queue_page
from hanbeon.store.operations.promote import promote
from hanbeon.store.operations.prune import count_prunable
from hanbeon.store.operations.queries import jobs_by_id
from hanbeon.store.operations.queues import QueuePage
from hanbeon.store.schema import MIGRATIONS, script
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.store_parts import add_surfaces
from hanbeon.testing.clock import VirtualClock

LEASE = 30.0
LEASE_US = 30 * MICROS
INSTANCE = 7
SINGLE_ROWS = {
    "clock": "trusted_at = 0, steady_since = 0, seen_at = 0",
    "event_counter": "last_id = 0",
    "fold": "folded_to = 0, folded_at = 0",
    "pruned": "before = 0",
    "relay": "relayed_to = 0",
}
"""Tables of one row, and how it begins."""


@cache
def empty_script(dialect: Dialect) -> str:
    """Return the script that empties all tables.

    Their names are read from the migrations: a table that a list here forgot would carry rows from one test into the
    next. Deleting takes a twentieth of the time of TRUNCATE, which syncs a file per table and index.
    """
    scripts = "\n".join(script(migration, dialect) for migration in MIGRATIONS)
    tables = sorted({*re.findall(r"CREATE TABLE hanbeon[._](\w+)", scripts)} - {"incarnation"})
    begun = [f"UPDATE hanbeon.{table} SET {SINGLE_ROWS[table]}" for table in tables if table in SINGLE_ROWS]
    return "; ".join([*(f"DELETE FROM hanbeon.{table}" for table in tables if table not in SINGLE_ROWS), *begun])


def new_id() -> str:
    return str(uuid_utils.uuid7())


def new_job(**given: Any) -> NewJob:
    """A job without retries by default."""
    values: dict[str, Any] = {"id": new_id(), "task": "t", "policy": RetryPolicy(max_retries=0)}
    return NewJob(**(values | given))


class Rows(NamedTuple):
    """How much there is of everything that a refused batch must not add to."""

    jobs: int
    edges: int
    attempts: int
    event_batches: int
    events: int


class World:
    """A store, its clock, and the test's words for both."""

    def __init__(self, store: Store, clock: VirtualClock) -> None:
        self.store = store
        self.clock = clock

    @classmethod
    async def open(cls, url: str, *, fast: bool = True) -> "World":
        clock = VirtualClock()
        store = add_surfaces(open_store(url, clock, fast=fast))
        await store.open()
        world = cls(store, clock)
        await clock.attach(store)
        return world

    @property
    def on_postgres(self) -> bool:
        return isinstance(self.store.database, PostgresDatabase)

    async def enqueue(self, *jobs: NewJob) -> list[Enqueued]:
        return await self.store.enqueue(jobs)

    async def make(self, **given: Any) -> str:
        job = new_job(**given)
        await self.store.enqueue([job])
        return job.id

    async def claim(
        self, want: int = 1, tasks: Sequence[str] = ("t",), lease_us: int = LEASE_US, cursor: int = 0
    ) -> list[Claimed]:
        request = ClaimRequest(INSTANCE, tasks, want, lease_us, cursor)
        return (await self.store.claim(request)).jobs

    async def promote(self, limit: int) -> int:
        return await self.store.write(lambda tx: promote(tx, self.store.lanes, limit))

    async def requeue(self, job_id: str) -> State:
        return await self.store.write(lambda tx: requeue(tx, self.store.lanes, job_id))

    async def mark_done(self, job_id: str, comment: str = "did it myself", result: str = "null") -> None:
        await self.store.write(lambda tx: mark_done(tx, self.store.lanes, job_id, comment, result=result))

    async def recover(self, limit: int, random_share: float = 0.0) -> list[Recovered]:
        return await self.store.write(lambda tx: recover(tx, self.store.lanes, limit, random_share))

    async def reprioritise(self, job_id: str, priority: int | None, urgent: bool | None) -> None:
        await self.store.write(lambda tx: reprioritise(tx, self.store.lanes, job_id, priority, urgent))

    async def note_overdue(self, held: Lease) -> bool:
        return await self.store.write(lambda tx: note_overdue(tx, self.store.lanes, held))

    async def counts(self, queue: str | None = None) -> dict[State, int]:
        return await self.store.read(lambda tx: tallies.counts(tx, queue, self.store.unfolded))

    async def statistics(self, queue: str | None, window_us: int) -> dict[str, QueueStatistics]:
        return await self.store.read(lambda tx: tallies.statistics(tx, queue, window_us, self.store.unfolded))

    async def queue_page(self, after: str, limit: int, window_us: int) -> QueuePage:
        return await self.store.read(lambda tx: queue_page(tx, after, limit, window_us, None, self.store.unfolded))

    async def count_prunable(self, older_than_us: int) -> dict[str, int]:
        return await self.store.read(lambda tx: count_prunable(tx, self.store.retention, older_than_us))

    async def claim_ids(self, want: int = 100, tasks: Sequence[str] = ("t",)) -> list[str]:
        return [job.id for job in await self.claim(want, tasks)]

    async def claim_this(self, job_id: str) -> Claimed:
        (held,) = await self.claim(1)
        assert held.id == job_id
        return held

    async def settle(self, held: Claimed, outcome: Outcome | None = None) -> Completed | None:
        """Complete as an instance does. Reports without an instance, as tests build them, take the general path."""
        outcome = outcome or Returned()
        if isinstance(outcome, Returned) and (at := await self.store.succeed([held], [outcome.result])) is not None:
            return Completed(held.seq, held.fence, State.SUCCEEDED, Reason.SUCCEEDED, at)
        settled = await self.store.complete([CompletionReport(held.seq, held.fence, outcome, instance=held.instance)])
        return settled[0] if settled else None

    async def finish(self, job_id: str, outcome: Outcome | None = None) -> None:
        """Run a job that is the next in line."""
        settled = await self.settle(await self.claim_this(job_id), outcome)
        assert settled is not None

    async def job(self, job_id: str) -> JobRecord:
        return await self.store.job(job_id)

    async def state(self, job_id: str) -> State:
        return (await self.store.job(job_id)).state

    async def states(self, ids: Sequence[str]) -> list[State]:
        found = {job.id: job.state for job in await self.store.read(lambda tx: jobs_by_id(tx, ids))}
        return [found[job_id] for job_id in ids]

    async def events(self, job_id: str | None = None) -> list[Event]:
        """All events so far, of one job or of all; also checks them against the lifecycle."""
        while await self.store.number_events():
            pass
        events = await self.store.read(lambda tx: events_after(tx, 0, 1_000_000))
        check_history(events)
        return [event for event in events if job_id is None or event.job_id == job_id]

    async def fold(self) -> None:
        """From here on the tallies know of all events there are, and none of them must be kept for that."""
        while await self.store.number_events():
            pass
        while await self.store.fold():
            pass

    async def check_tallies(self) -> None:
        """Assert that the tallies and the counts equal a recount of the same snapshot."""
        tallied, found, counted = await self.store.read(_both_counts)
        assert tallied == found
        total = Stock()
        for stock in found.values():
            total.add(stock)
        assert counted == all_states(total)

    async def reasons(self, job_id: str) -> list[str]:
        return [event.type for event in await self.events(job_id)]

    async def rows(self) -> Rows:
        return Rows(
            jobs=await self.count("job"),
            edges=await self.count("edge"),
            attempts=await self.count("attempt"),
            event_batches=await self.count("event_batch"),
            events=len(await self.events()),
        )

    async def count(self, table: str) -> int:
        return int((await self.sql(f"SELECT count(*) FROM hanbeon.{table}"))[0][0])

    async def sql(self, text: str) -> Sequence[Any]:
        """Look at the tables themselves."""
        if isinstance(self.store.database, PostgresDatabase):
            async with self.store.database.connection() as connection:
                rows: Sequence[Any] = await connection.fetch(text)
                return rows
        transaction = await self.store.begin()
        try:
            return await transaction.fetch(text.replace("hanbeon.", "hanbeon_"))
        finally:
            await transaction.abandon()

    async def script(self, text: str) -> None:
        """Change the tables behind the store's back."""
        if isinstance(self.store.database, PostgresDatabase):
            async with self.store.database.connection() as connection:
                await connection.execute(text)
            return
        transaction = await self.store.begin()
        await transaction.execute(text.replace("hanbeon.", "hanbeon_"))
        await transaction.finish(_nothing)

    async def empty(self) -> None:
        """As new."""
        await self.script(empty_script(self.store.database.dialect))
        self.store.lanes = LaneCache(self.clock)


async def _both_counts(tx: Tx) -> tuple[dict[str, Stock], dict[str, Stock], dict[State, int]]:
    tallied, found = await tallies.stocks(tx), await tallies.recount(tx)
    counted = await tallies.counts(tx, None, tallies.UnfoldedBatches())
    return _solid(tallied), _solid(found), counted


def _solid(stocks: dict[str, Stock]) -> dict[str, Stock]:
    """Without what is zero."""
    solid = {
        queue: Stock({state: jobs for state, jobs in stock.states.items() if jobs}, stock.ran)
        for queue, stock in stocks.items()
    }
    return {queue: stock for queue, stock in solid.items() if stock != Stock()}


async def _nothing(_: Tx) -> None:
    return


def lease_of(held: Claimed) -> Lease:
    return Lease(held.seq, held.fence, held.instance)


def check_history(events: Sequence[Event]) -> None:
    """Numbers without a gap, and only moves that the lifecycle allows."""
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    where: dict[str, State] = {}
    for event in events:
        if event.job_id is None:
            continue
        assert event.state is not None
        reason = Reason(event.type)
        before = where.get(event.job_id)
        assert is_legal(reason, before, event.state), f"{event} from {before}"
        assert event.was == before
        assert LIFECYCLE[reason].target in (None, event.state)
        where[event.job_id] = event.state


def changed(job: NewJob, **changes: Any) -> NewJob:
    return msgspec.structs.replace(job, **changes)
