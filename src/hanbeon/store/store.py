"""What the engine asks of a store. Both databases answer through the same operations."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from hanbeon.domain.events import Event
from hanbeon.domain.job import AttemptRecord, JobRecord, LaneName, NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.domain.log import LogPage, LogPlace
from hanbeon.domain.statistics import QueueStatistics
from hanbeon.domain.tally import Stock
from hanbeon.errors import DatabaseUnavailable, InvalidInput, JobNotFound, NotFound, OtherDatabase
from hanbeon.store.bulk import Make, in_bulk, lanes_of
from hanbeon.store.external.caller import Caller, identify, within
from hanbeon.store.external.detect import caller_of
from hanbeon.store.notify import Notifier, PostgresNotifier
from hanbeon.store.operations import cancel as cancels
from hanbeon.store.operations import claim as claims
from hanbeon.store.operations import complete as settles
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.operations import events, instances, lease, logs, promote, prune, queries, queues, tallies
from hanbeon.store.operations.lanes import LaneCache, add_lanes
from hanbeon.store.postgres import PostgresDatabase, PostgresUserTransaction
from hanbeon.store.sqlite import SqliteDatabase, SqliteUserTransaction
from hanbeon.store.statements import statement
from hanbeon.store.tx import Tx
from hanbeon.store.user_transaction import UserTransaction

T = TypeVar("T")
_CANCEL_BATCH = 1000
_JOBS_A_SECOND = 500
_MUCH_UNFOLDED = 1000
_ONLY_OURS = (
    "on SQLite only a transaction of this App can carry its jobs: `async with app.transaction() as tx:`, and pass tx"
)


class Store:
    """Every method is one transaction, or a few of which each leaves a sound database."""

    def __init__(self, database: SqliteDatabase | PostgresDatabase, notifier: Notifier) -> None:
        self.database = database
        self.notifier = notifier
        self.book = LaneCache()
        self._folding: asyncio.Task[None] | None = None
        self._lent: weakref.WeakSet[UserTransaction] = weakref.WeakSet()

    async def open(self) -> None:
        await self.database.open()

    async def close(self) -> None:
        if self._folding is not None:
            self._folding.cancel()
            await asyncio.wait([self._folding])
        for lent in list(self._lent):
            await lent.abandon()
        await self.notifier.close()
        await self.database.close()

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Run the operation in a transaction that only reads."""
        return await self.database.read(operation)

    async def write(self, operation: Callable[[Tx], Awaitable[T]], jobs: int = 0) -> T:
        """Commit the operation, then wake whom it concerns. `jobs`: how many it makes, for its time limit."""
        answer, hints = await self.database.transact(operation, jobs / _JOBS_A_SECOND)
        self.notifier.send(hints)
        return answer

    # Making jobs

    async def enqueue(
        self,
        jobs: Sequence[NewJob],
        first: Callable[[Tx], Awaitable[None]] | None = None,
        last: Callable[[Tx, Sequence[enqueues.Enqueued]], Awaitable[None]] | None = None,
    ) -> list[enqueues.Enqueued]:
        """All of them or none, in this order.

        `first` comes before them in the same transaction, and may refuse; `last` looks at what was made before anybody
        else can see it.
        """
        short = in_bulk(jobs) if isinstance(self.database, PostgresDatabase) else None
        if short is None:
            enqueues.check_batch(jobs)
        make: Make = short or partial(enqueues.enqueue, jobs=jobs)
        missing = self.book.missing(lanes_of(jobs))
        if not missing and first is None and last is None:
            if enqueues.goes_alone(jobs) and (one := await self._enqueue_one(jobs[0])) is not None:
                return [one]
            return await self.write(lambda tx: make(tx, self.book), len(jobs))
        # New lanes come with their first jobs or not at all: a refused batch must leave no queue behind.
        made: list[tuple[LaneName, int]] = []

        async def enqueue(tx: Tx) -> list[enqueues.Enqueued]:
            if first is not None:
                await first(tx)
            made[:] = await add_lanes(tx, missing) if missing else []
            answers = await make(tx, self.book.with_lanes(made))
            if last is not None:
                await last(tx, answers)
            return answers

        answers = await self.write(enqueue, len(jobs))
        for name, number in made:
            self.book.note(name, number)
        return answers

    async def enqueue_one_in_office(self, job: NewJob, office_id: str, version: int) -> enqueues.Enqueued | None:
        """Make a job the short way, if its office is at this version; None if it must go the long way."""
        if not enqueues.goes_alone([job]) or self.book.missing([job.lane]):
            return None
        return await self._enqueue_one(job, office_id, version)

    async def _enqueue_one(
        self, job: NewJob, office_id: str | None = None, version: int | None = None
    ) -> enqueues.Enqueued | None:
        """Make a job the short way, where there is one; None if it must go the long way."""
        if not isinstance(self.database, PostgresDatabase) or not isinstance(self.notifier, PostgresNotifier):
            return None
        hints = ("work", "event")
        riding = self.notifier.ride(hints)
        found = await self.database.fetch("enqueue_one", *enqueues.alone(job, self.book), riding, office_id, version)
        for row in found:
            if riding is None:
                self.notifier.send(hints)
            return enqueues.Enqueued(job.id, State.READY, True, row["seq"], row["created_at"])
        return None

    async def enqueue_within(self, transaction: Any, jobs: Sequence[NewJob]) -> list[enqueues.Enqueued]:
        """All of them or none, as a part of a transaction that is another's: they exist if and only if it commits."""
        if isinstance(self.database, SqliteDatabase):
            return await self._enqueue_lent(transaction, jobs)
        if isinstance(transaction, PostgresUserTransaction):
            transaction = transaction.connection
        caller = await caller_of(transaction)
        await self.prepare_within(await identify(caller), jobs)
        return await self.enqueue_prepared(caller, jobs)

    async def prepare_within(self, identity: str, jobs: Sequence[NewJob]) -> None:
        """What comes before writing into a transaction of the database with that identity."""
        enqueues.check_batch(jobs)
        database = self.database
        if isinstance(database, SqliteDatabase):
            raise InvalidInput(_ONLY_OURS, field="transaction")
        # Its own identity may be from before a restart of the server.
        if identity != await database.identity() and identity != await database.identity(anew=True):
            raise OtherDatabase(
                "the connection leads to another database than the App's, where no worker would find the jobs; "
                "connect it to the one of HANBEON_DATABASE_URL",
                field="transaction",
            )
        await self.prepare_lanes(jobs)

    async def enqueue_prepared(self, caller: Caller, jobs: Sequence[NewJob]) -> list[enqueues.Enqueued]:
        """The writing. It awaits the caller's connection and nothing else."""
        return await within(caller, lambda tx: enqueues.enqueue(tx, self.book, jobs, lasting=True))

    async def _enqueue_lent(self, lent: Any, jobs: Sequence[NewJob]) -> list[enqueues.Enqueued]:
        """Into a write transaction of ours on SQLite: nobody else writes beside it, so it need not be careful."""
        if not isinstance(lent, SqliteUserTransaction) or lent.database is not self.database:
            raise InvalidInput(_ONLY_OURS, field="transaction")
        enqueues.check_batch(jobs)
        made: list[tuple[LaneName, int]] = []

        async def enqueue(tx: Tx) -> list[enqueues.Enqueued]:
            book = self.book.with_lanes(lent.lanes)
            missing = book.missing(job.lane for job in jobs)
            made[:] = await add_lanes(tx, missing) if missing else []
            return await enqueues.enqueue(tx, book.with_lanes(made), jobs)

        answers = await lent.within(enqueue)
        lent.lanes += made
        return answers

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[UserTransaction]:
        """A transaction of the App's own: committed at the end of the block, undone by an exception."""
        lent = await self.lend()
        try:
            yield lent
            await self.commit(lent)
        finally:
            await lent.abandon()

    async def commit(self, lent: UserTransaction) -> None:
        """Commit a lent transaction, and wake whom it concerns."""
        _, hints = await lent.finish(_nothing)
        self._committed(lent, hints)

    def _committed(self, lent: UserTransaction, hints: set[str]) -> None:
        if isinstance(lent, SqliteUserTransaction):
            for name, number in lent.lanes:
                self.book.note(name, number)
        self.notifier.send(hints)

    async def prepare_lanes(self, jobs: Sequence[NewJob]) -> None:
        """Make the lanes of these jobs known, in a transaction of its own."""
        missing = self.book.missing(job.lane for job in jobs)
        if missing:
            for name, number in await self.write(lambda tx: add_lanes(tx, missing)):
                self.book.note(name, number)

    # Running jobs

    async def claim(self, request: claims.ClaimRequest) -> claims.ClaimAnswer:
        """Take at most `want` jobs, looking on until some are found. None taken: no ready job may start now."""
        if request.want <= 0:
            return claims.ClaimAnswer([], request.cursor)
        again_from_first = request.cursor > 0
        while True:
            look = request
            answer = await self.write(lambda tx, look=look: claims.claim(tx, self.book, look))  # type: ignore[misc]
            if answer.jobs or (answer.cursor == 0 and not again_from_first):
                return answer
            again_from_first = again_from_first and answer.cursor > 0
            request = request._replace(cursor=answer.cursor, behind=None)

    async def settle(self, reports: Sequence[settles.CompletionReport]) -> list[settles.Completed]:
        """End attempts whose leases are held; the others are missing from the answer: refused."""
        return await self.write(lambda tx: settles.complete(tx, self.book, reports))

    async def settle_lent(
        self, lent: UserTransaction, report: settles.CompletionReport, children: Sequence[NewJob]
    ) -> settles.Completed | None:
        """End an attempt as the last statement of the transaction lent to it; None: refused, and rolled back."""
        try:
            answer, hints = await lent.finish(lambda tx: self._settle_with_children(tx, report, children))
        except NotSucceeded:
            return None
        self._committed(lent, hints)
        return answer

    async def settle_with_children(
        self, report: settles.CompletionReport, children: Sequence[NewJob]
    ) -> settles.Completed | None:
        """End an attempt and create what it enqueued, both or neither; None: refused, and neither."""
        try:
            return await self.write(lambda tx: self._settle_with_children(tx, report, children))
        except NotSucceeded:
            return None

    async def _settle_with_children(
        self, tx: Tx, report: settles.CompletionReport, children: Sequence[NewJob]
    ) -> settles.Completed:
        settled = await settles.complete(tx, self.book, [report])
        if not settled or settled[0].state is not State.SUCCEEDED:
            raise NotSucceeded
        if children:
            enqueues.check_batch(children)
            # In this transaction, which ends here: another would wait for the lock a lent one holds on SQLite.
            missing = self.book.missing(child.lane for child in children)
            book = self.book.with_lanes(await add_lanes(tx, missing) if missing else [])
            await enqueues.enqueue(tx, book, children)
        return settled[0]

    async def lend(self) -> UserTransaction:
        """A transaction to write through. One that is still open when the store is closed is rolled back."""
        lent = await self.database.lend()
        self._lent.add(lent)
        return lent

    async def renew(self, leases: Sequence[lease.Lease], lease_us: int) -> lease.LeaseFacts:
        return await self.write(lambda tx: lease.renew(tx, leases, lease_us))

    async def look_at(self, leases: Sequence[lease.Lease]) -> lease.LeaseFacts:
        return await self.read(lambda tx: lease.look(tx, leases))

    async def write_progress(self, held: lease.Lease, progress: str, lent: UserTransaction | None = None) -> bool:
        """Note progress; False if the lease is gone.

        Where a lent transaction holds SQLite's only write lock, it goes through that one and shows at its commit. On
        PostgreSQL it never does: the job's row would stay locked, and its heartbeats could not renew it.
        """
        if lent is not None and isinstance(self.database, SqliteDatabase):
            return bool(await lent.fetch(statement("progress", self.database.dialect), *held, progress))
        return await self.write(lambda tx: lease.write_progress(tx, held, progress))

    async def write_logs(
        self, writes: Sequence[logs.LogWrite], lent: UserTransaction | None = None
    ) -> set[lease.Lease]:
        """Write what attempts printed; the leases still held. That of the others is refused.

        Where a lent transaction of the attempt holds SQLite's only write lock, it has to go through that one.
        """
        if isinstance(lent, SqliteUserTransaction):
            return await lent.within(lambda tx: logs.write_logs(tx, writes))
        return await self.write(lambda tx: logs.write_logs(tx, writes))

    def is_in_the_way(self, lent: UserTransaction | None) -> bool:
        """Whether nothing else can be written for as long as this transaction lasts."""
        return isinstance(lent, SqliteUserTransaction)

    async def note_overdue(self, held: lease.Lease) -> bool:
        return await self.write(lambda tx: lease.note_overdue(tx, self.book, held))

    async def recover(self, limit: int, random_share: float = 0.0) -> list[settles.Recovered]:
        return await self.write(lambda tx: settles.recover(tx, self.book, limit, random_share))

    async def promote(self, limit: int) -> int:
        return await self.write(lambda tx: promote.promote(tx, self.book, limit))

    async def next_due_us(self) -> int | None:
        return await self.read(promote.next_due_us)

    async def count_prunable(self, older_than_us: int) -> prune.Prunable:
        """What `prune` would delete now, if it went on until it found nothing more."""
        return await self.read(lambda tx: prune.count_prunable(tx, older_than_us))

    async def prune(self, older_than_us: int, limit: int) -> int:
        return await self.write(lambda tx: prune.prune(tx, self.book, older_than_us, limit))

    # What people ask for

    async def cancel(self, job_id: str) -> State:
        return await self.write(lambda tx: cancels.cancel(tx, self.book, job_id))

    async def cancel_where(self, filter: cancels.CancelFilter) -> list[str]:
        """Cancel all that match now, in batches; the ids accepted, in creation order.

        The newest first: what waits for another of them is cancelled itself before that one's end could fail it.
        """
        lanes = await self._lanes(filter.queue)
        seqs = await self.read(lambda tx: cancels.matching(tx, lanes, filter))
        accepted: list[list[str]] = []
        while seqs:
            batch = seqs[-_CANCEL_BATCH:]
            del seqs[-_CANCEL_BATCH:]
            accepted.append(
                await self.write(
                    lambda tx, batch=batch: cancels.cancel_these(tx, self.book, batch, filter.states)  # type: ignore[misc]
                )
            )
        return [job_id for ids in reversed(accepted) for job_id in ids]

    async def count_unfinished(self, filter: cancels.CancelFilter) -> int:
        """How many `cancel_where` would find now."""
        lanes = await self._lanes(filter.queue)
        return len(await self.read(lambda tx: cancels.matching(tx, lanes, filter)))

    async def requeue(self, job_id: str) -> State:
        return await self.write(lambda tx: cancels.requeue(tx, self.book, job_id))

    async def reprioritise(self, job_id: str, priority: int | None, urgent: bool | None) -> None:
        await self.write(lambda tx: cancels.reprioritise(tx, self.book, job_id, priority, urgent))

    async def change_queue(
        self, name: str, limits: Mapping[str, Any] | None = None, paused: bool | None = None
    ) -> queues.QueueRecord:
        """Change limits or pause; makes the queue exist."""
        await self.write(lambda tx: queues.add_queue(tx, name))
        return await self.write(lambda tx: queues.change_queue(tx, name, limits, paused))

    async def declare_queues(self, declared: Mapping[str, Mapping[str, Any]]) -> list[queues.QueueRecord]:
        """Put in force what is declared otherwise than last, all of it or nothing; the queues that this changed."""
        return await self.write(lambda tx: queues.declare_queues(tx, declared))

    # Looking

    async def job(self, job_id: str) -> JobRecord:
        found = await self.jobs([job_id])
        if not found:
            raise JobNotFound(job_id)
        return found[0]

    async def jobs(self, ids: Sequence[str]) -> list[JobRecord]:
        return await self.read(lambda tx: queries.jobs_by_id(tx, ids))

    async def list_jobs(self, filter: queries.JobFilter, after: int = 0, limit: int = 100) -> list[JobRecord]:
        return await self.read(lambda tx: queries.list_jobs(tx, filter, after, limit))

    async def running(self, limit: int) -> list[JobRecord]:
        """What runs now, the longest first. Its cost does not depend on how many others there are."""
        return await self.read(lambda tx: queries.running_jobs(tx, limit))

    async def now_us(self) -> int:
        """The instant, by the clock that instants in the database are of."""
        return await self.read(queries.now_us)

    async def attempts(self, job_id: str) -> list[AttemptRecord]:
        return await self.read(lambda tx: queries.attempts_of(tx, job_id))

    async def log(self, job_id: str, attempt: int | None, place: LogPlace, limit: int) -> LogPage:
        """Up to `limit` lines of a job's log behind a place."""
        page = await self.read(lambda tx: logs.read_log(tx, job_id, attempt, place, limit))
        if not page.entries:
            await self.job(job_id)  # Raises if there is no such job.
        return page

    async def dependencies(self, job_id: str) -> list[queries.Dependency]:
        return await self.read(lambda tx: queries.dependencies_of(tx, job_id))

    async def counts(self, queue: str | None = None) -> dict[State, int]:
        """How many jobs are in each state. Its cost does not depend on how many there are."""
        counted, unfolded = await self.read(lambda tx: tallies.counts(tx, queue))
        self._fold_if_much(unfolded)
        return counted

    async def stock(self, queue: str) -> Stock:
        """The same, with how long the succeeded ones ran together."""
        found, unfolded = await self.read(lambda tx: tallies.stock(tx, queue))
        self._fold_if_much(unfolded)
        return found

    async def statistics(self, queue: str | None, window_us: int) -> dict[str, QueueStatistics]:
        """The numbers of one queue, or of all by name, now and over the last `window_us`."""
        found, unfolded = await self.read(lambda tx: tallies.statistics(tx, queue, window_us))
        self._fold_if_much(unfolded)
        return found

    async def queues(self) -> list[queues.QueueRecord]:
        return await self.read(queues.queues)

    async def _lanes(self, queue: str | None) -> tuple[int, int]:
        lanes = await self.read(lambda tx: queries.lanes_of(tx, queue))
        if lanes is None:
            raise NotFound(f"there is no queue {queue!r}; a queue exists from its first job or configuration on")
        return lanes

    async def fold(self, limit: int = 2000, rest_us: int = 0) -> int:
        """Add the next batches of deltas to the tallies; how many. One at a time: 0 if another is at it."""
        return await self.write(lambda tx: tallies.fold(tx, limit, rest_us))

    def _fold_if_much(self, unfolded: int) -> None:
        """Nobody works on this database just now; the next one who asks should not read all that again.

        Beside the reader, never in its way: on SQLite it may stand in a transaction that holds the write lock.
        """
        if unfolded > _MUCH_UNFOLDED and (self._folding is None or self._folding.done()):
            self._folding = asyncio.get_running_loop().create_task(self._fold_all())

    async def _fold_all(self) -> None:
        with contextlib.suppress(DatabaseUnavailable):
            while await self.number_events():
                pass
            while await self.fold():
                pass

    # Events

    async def number_events(self, limit: int = 1000) -> int:
        return await self.write(lambda tx: events.number_events(tx, limit))

    async def events_after(self, after: int, batches: int = 100, queue: str | None = None) -> list[Event]:
        return await self.read(lambda tx: events.events_after(tx, after, batches, queue))

    async def last_event_id(self) -> int:
        return await self.read(events.last_event_id)

    # Instances

    async def register(self, new: instances.NewInstance) -> int:
        return await self.write(lambda tx: instances.register(tx, new))

    async def beat(
        self,
        instance: int,
        running: int,
        tasks: Sequence[str],
        capacity: int | None = None,
        schedules: Sequence[str] | None = None,
    ) -> bool:
        return await self.write(lambda tx: instances.beat(tx, instance, running, tasks, capacity, schedules))

    async def leave(self, instance: int) -> None:
        await self.write(lambda tx: instances.leave(tx, instance))

    async def instances(self, alive_within_us: int) -> list[instances.InstanceRecord]:
        return await self.read(lambda tx: instances.instances(tx, alive_within_us))


async def _nothing(_: Tx) -> None:
    return


class NotSucceeded(Exception):
    """Undoes a transaction whose attempt turned out stale or cancelled."""
