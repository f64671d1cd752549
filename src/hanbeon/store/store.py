"""The store: one interface to both databases, which run the same operations."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from hanbeon.domain.actor import current_actor, nobody
from hanbeon.domain.job import Claimed, JobRecord, NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.domain.log import LogPage, LogPosition
from hanbeon.domain.statistics import QueueStatistics
from hanbeon.domain.tally import Stock
from hanbeon.domain.trace_context import TraceContext
from hanbeon.errors import (
    DatabaseRestored,
    DatabaseUnavailable,
    InvalidInput,
    JobNotFound,
    NotFound,
    OtherDatabase,
)
from hanbeon.quotation import quoted
from hanbeon.store.database.postgres import PostgresUserTransaction
from hanbeon.store.database.sqlite import SqliteDatabase, SqliteUserTransaction
from hanbeon.store.external.caller import Caller, identify, within
from hanbeon.store.external.detect import caller_of
from hanbeon.store.operations import cancel as cancels
from hanbeon.store.operations import claim as claims
from hanbeon.store.operations import complete as completions
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.operations import events, lease, logs, promote, prune, queries, queues, tallies, traces
from hanbeon.store.operations.enqueue import RowVersion
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.overview import Overview, read_overview
from hanbeon.store.operations.queues import QueuePage
from hanbeon.store.operations.retention import Retention
from hanbeon.store.statements import statement
from hanbeon.store.transactions import Transactions
from hanbeon.store.turns import in_turns
from hanbeon.store.tx import Tx
from hanbeon.store.user_transaction import UserTransaction

if TYPE_CHECKING:
    from hanbeon.store.fast.path import FastPath

T = TypeVar("T")
_UNFOLDED_LIMIT = 1000
_ONLY_OURS = "must be a transaction of this App on SQLite; use `async with app.transaction() as tx:` and pass tx"


class Store(Transactions):
    """The operations of the engine that take more than one transaction, or that only one of the databases has.

    Everything else goes through `read` and `write`. Each method leaves a consistent database.
    """

    async def enqueue(
        self,
        jobs: Sequence[NewJob],
        first: Callable[[Tx], Awaitable[None]] | None = None,
        last: Callable[[Tx, Sequence[enqueues.Enqueued]], Awaitable[None]] | None = None,
    ) -> list[enqueues.Enqueued]:
        """Create all of the jobs or none, in this order.

        `first` runs before them in the same transaction, and may raise; `last` sees the result before the commit.
        """
        if self.tracer is not None:
            with self.tracer.enqueuing(jobs):
                return await self._enqueue(jobs, first, last)
        return await self._enqueue(jobs, first, last)

    async def _enqueue(
        self,
        jobs: Sequence[NewJob],
        first: Callable[[Tx], Awaitable[None]] | None,
        last: Callable[[Tx, Sequence[enqueues.Enqueued]], Awaitable[None]] | None,
    ) -> list[enqueues.Enqueued]:
        if len(jobs) == 1 and first is None and last is None and (one := await self.enqueue_one(jobs[0])) is not None:
            return [one]
        bulk = None if self.fast is None else self.fast.in_bulk(jobs)
        if bulk is None:
            enqueues.check_batch(jobs)
        make: enqueues.Make = bulk or partial(enqueues.enqueue, jobs=jobs)

        async def enqueue(tx: Tx) -> list[enqueues.Enqueued]:
            if first is not None:
                await first(tx)
            # New lanes are created with their first jobs or not at all: a rejected batch must not leave a queue.
            answers = await make(tx, await self.lanes.ensure(tx, enqueues.lanes_of(jobs)))
            if last is not None:
                await last(tx, answers)
            return answers

        return await self.write(enqueue, len(jobs) if bulk is not None else enqueues.weight(jobs))

    async def enqueue_once(self, jobs: Sequence[NewJob]) -> list[enqueues.Enqueued]:
        """Create all of the jobs or none. If the answer is lost, find out: the same ids again create what is missing.

        If that is not answered either, the error has the ids, for the caller to try again.
        """
        try:
            return await self.enqueue(jobs)
        except DatabaseUnavailable:
            try:
                return await self.enqueue(jobs)
            except DatabaseUnavailable as error:
                error.ids = tuple(job.id for job in jobs)
                raise

    async def enqueue_one(self, job: NewJob, precondition: RowVersion | None = None) -> enqueues.Enqueued | None:
        """Create a job by a fast path, if there is one and the precondition holds; None: use the general path."""
        if self.fast is None or self.tracer is not None:
            return None  # Its statement writes no context.
        return await self.fast.enqueue_one(self.lanes, job, precondition)

    async def enqueue_within(self, transaction: Any, jobs: Sequence[NewJob]) -> list[enqueues.Enqueued]:
        """Create all of the jobs or none within a caller's transaction: they exist if and only if it commits."""
        if self.tracer is not None:
            with self.tracer.enqueuing(jobs):
                return await self._enqueue_within(transaction, jobs)
        return await self._enqueue_within(transaction, jobs)

    async def _enqueue_within(self, transaction: Any, jobs: Sequence[NewJob]) -> list[enqueues.Enqueued]:
        if isinstance(self.database, SqliteDatabase):
            return await self._enqueue_on_sqlite(transaction, jobs)
        if isinstance(transaction, PostgresUserTransaction):
            transaction = transaction.connection
        caller = await caller_of(transaction)
        await self.prepare_within(await identify(caller), jobs)
        return await self.enqueue_prepared(caller, jobs)

    async def prepare_within(self, identity: str, jobs: Sequence[NewJob]) -> None:
        """Validate the jobs and create their lanes, before a write in a transaction of the database `identity`."""
        enqueues.check_batch(jobs)
        database = self.database
        if isinstance(database, SqliteDatabase):
            raise InvalidInput(_ONLY_OURS, field="transaction")
        # Its own identity may be from before a restart of the server.
        if identity != await database.identity() and identity != await database.identity(anew=True):
            raise OtherDatabase(
                "must be a connection to the App's database, got one to another, where no worker would find the jobs; "
                "connect it to the one of HANBEON_DATABASE_URL",
                field="transaction",
            )
        await self.prepare_lanes(jobs)

    async def enqueue_prepared(self, caller: Caller, jobs: Sequence[NewJob]) -> list[enqueues.Enqueued]:
        """Write the prepared jobs. It awaits the caller's connection and nothing else."""

        async def enqueue(tx: Tx) -> list[enqueues.Enqueued]:
            # The numbers of the lanes are of the incarnation that was opened.
            (seen,) = await tx.fetch("callers_incarnation")
            if seen["frozen"]:
                (seen,) = await tx.fetch("keep_incarnation")
            if seen["id"] != self.incarnation:
                raise DatabaseRestored
            return await enqueues.enqueue(tx, self.lanes, jobs, lasting=True)

        return await within(caller, self._traced(enqueue))

    async def _enqueue_on_sqlite(self, transaction: Any, jobs: Sequence[NewJob]) -> list[enqueues.Enqueued]:
        """Enqueue in a user transaction on SQLite: there is no concurrent writer, so it takes the usual path."""
        if not isinstance(transaction, SqliteUserTransaction) or transaction.database is not self.database:
            raise InvalidInput(_ONLY_OURS, field="transaction")
        enqueues.check_batch(jobs)

        async def enqueue(tx: Tx) -> tuple[list[enqueues.Enqueued], LaneCache]:
            lanes = await (transaction.lanes or self.lanes).ensure(tx, (job.lane for job in jobs))
            return await enqueues.enqueue(tx, lanes, jobs), lanes

        answers, transaction.lanes = await transaction.within(self._traced(enqueue))
        return answers

    async def prepare_lanes(self, jobs: Sequence[NewJob]) -> None:
        """Create the missing lanes of these jobs, in a transaction of their own."""
        names = [job.lane for job in jobs]
        if self.lanes.missing(names):
            await self.write(lambda tx: self.lanes.ensure(tx, names))

    async def claim(self, request: claims.ClaimRequest) -> claims.ClaimAnswer:
        """Claim at most `want` jobs, page by page until some are found. None claimed: no ready job may start now."""
        if request.want <= 0:
            return claims.ClaimAnswer([], request.cursor)
        if (fast := self._batches) is not None:
            with self._noticing():
                taken = await fast.claim(self.lanes, request)
            if taken is not None:
                self.notifier.send({"event"})
                return taken
        again_from_first = request.cursor > 0
        while True:
            page = request
            answer = await self.write(partial(self._claim, page=page))
            if answer.jobs or (answer.cursor == 0 and not again_from_first):
                return answer
            again_from_first = again_from_first and answer.cursor > 0
            request = request._replace(cursor=answer.cursor, behind=None)

    async def _claim(self, tx: Tx, page: claims.ClaimRequest) -> claims.ClaimAnswer:
        answer = await claims.claim(tx, self.lanes, page)
        if tx.tracing is not None and answer.jobs:
            answer = answer._replace(jobs=await traces.with_traces(tx, answer.jobs))
        return answer

    @property
    def _batches(self) -> FastPath | None:
        """The fast path of claims and ends; None while a transaction has more to write."""
        if self.tracer is not None or current_actor() is not None:
            return None
        return self.fast

    async def keep_trace(self, job: int, context: TraceContext) -> None:
        """Note the trace of a job that had none, for its next attempts."""
        await self.write(lambda tx: traces.keep_traces(tx, {job: context.text}))

    async def complete(self, reports: Sequence[completions.CompletionReport]) -> list[completions.Completed]:
        """End the attempts whose leases are held; those missing from the answer were rejected."""
        return await self.write(lambda tx: completions.complete(tx, self.lanes, reports))

    async def succeed(self, jobs: Sequence[Claimed], results: Sequence[str | None]) -> int | None:
        """End attempts that succeeded, all of one instance and with the same fence, by the fast path.

        Return the instant; None: nothing was written, use `complete`.
        """
        if (fast := self._batches) is None:
            return None
        with self._noticing():
            ended = await fast.succeed(self.lanes, jobs, results)
        if ended is None:
            return None
        self.notifier.send(completions.hints_of(self.lanes, jobs).union(ended.hints))
        return ended.at

    async def complete_within(
        self, transaction: UserTransaction, report: completions.CompletionReport, children: Sequence[NewJob]
    ) -> completions.Completed | None:
        """End an attempt as the last step of the user transaction; None: rejected, and rolled back."""
        try:
            completing = self._traced(partial(self._complete_with_children, report=report, children=children))
            answer, after = await transaction.finish(completing)
        except NotSucceeded:
            return None
        self._committed(after)
        return answer

    async def complete_with_children(
        self, report: completions.CompletionReport, children: Sequence[NewJob]
    ) -> completions.Completed | None:
        """End an attempt and create the jobs that it enqueued, both or neither; None: rejected, and neither."""
        try:
            return await self.write(
                lambda tx: self._complete_with_children(tx, report, children), enqueues.weight(children)
            )
        except NotSucceeded:
            return None

    async def _complete_with_children(
        self, tx: Tx, report: completions.CompletionReport, children: Sequence[NewJob]
    ) -> completions.Completed:
        completed = await completions.complete(tx, self.lanes, [report])
        if not completed or completed[0].state is not State.SUCCEEDED:
            raise NotSucceeded
        if children:
            enqueues.check_batch(children)
            # In this transaction, which ends here: another would wait for the lock that a user's holds on SQLite.
            lanes = await self.lanes.ensure(tx, (child.lane for child in children))
            await enqueues.enqueue(tx, lanes, children)
        return completed[0]

    async def write_progress(
        self, held: lease.Lease, progress: str, transaction: UserTransaction | None = None
    ) -> bool:
        """Write progress; False if the lease is gone."""
        # Where a user transaction holds SQLite's only write lock, through that, visible at its commit. On PostgreSQL
        # never: the job's row would stay locked, and heartbeats could not renew it.
        if transaction is not None and isinstance(self.database, SqliteDatabase):
            return bool(await transaction.fetch(statement("progress", self.database.dialect), *held, progress))
        return await self.write(lambda tx: lease.write_progress(tx, self.lanes, held, progress))

    async def write_logs(
        self, writes: Sequence[logs.LogWrite], transaction: UserTransaction | None = None
    ) -> set[lease.Lease]:
        """Write the output of attempts; return the leases that are still held. Output of the others is rejected.

        Where a user transaction of the attempt holds SQLite's only write lock, the write must go through it.
        """
        if isinstance(transaction, SqliteUserTransaction):
            return await transaction.within(lambda tx: logs.write_logs(tx, writes))
        return await self.write(lambda tx: logs.write_logs(tx, writes))

    def is_blocking(self, transaction: UserTransaction | None) -> bool:
        """True if nothing else can be written while this transaction lasts."""
        return isinstance(transaction, SqliteUserTransaction)

    async def note_begin(self, held: lease.Lease, *, begun: bool) -> bool:
        return await self.write(lambda tx: lease.note_begin(tx, held, begun=begun))

    async def note_overdue(self, held: lease.Lease) -> bool:
        return await self.write(lambda tx: lease.note_overdue(tx, self.lanes, held))

    async def recover(self, limit: int, random_share: float = 0.0) -> list[completions.Recovered]:
        return await self.write(lambda tx: completions.recover(tx, self.lanes, limit, random_share))

    async def hand_back(
        self, instance: int, tasks: Collection[str], begun: Collection[lease.Lease]
    ) -> tuple[set[lease.Lease], list[completions.Recovered]]:
        """Release what the instance is said to run and never began; see `complete.hand_back`."""
        return await self.write(lambda tx: completions.hand_back(tx, self.lanes, instance, tasks, begun))

    async def promote(self, limit: int) -> int:
        return await self.write(lambda tx: promote.promote(tx, self.lanes, limit))

    async def count_prunable(self, older_than_us: int) -> dict[str, int]:
        """Count what `prune` would delete now, if it were repeated until nothing is left, by kind."""
        return await self.read(lambda tx: prune.count_prunable(tx, self._parts, older_than_us))

    @property
    def _parts(self) -> Sequence[Retention]:
        assert self.retention is not None, "rows of surfaces would stay behind; see `surfaces/store_parts.py`"
        return self.retention

    async def retain(self, retention_us: int, every_us: int, limit: int) -> prune.Retained:
        """Prune what is past its retention. `every_us`: how often that is done."""
        return await self.write(lambda tx: prune.retain(tx, self.lanes, self._parts, retention_us, every_us, limit))

    async def prune(self, older_than_us: int, limit: int) -> int:
        """Prune what is older, by the database's clock, whatever that says."""
        return await self.write(lambda tx: prune.prune(tx, self.lanes, self._parts, older_than_us, limit))

    async def cancel(self, job_id: str) -> State:
        return await self.write(lambda tx: cancels.cancel(tx, self.lanes, job_id))

    async def cancel_where(self, filter: cancels.CancelFilter) -> list[str]:
        """Cancel all jobs that match now, in batches; return the accepted ids in creation order."""
        return (await self.cancel_newest(filter, cancels.ALL_JOBS))[0]

    async def cancel_newest(self, filter: cancels.CancelFilter, most: int) -> tuple[list[str], bool]:
        """Cancel up to `most` of the jobs that match now, in batches; return the accepted ids, and if more match.

        Newest first: a job that waits for another of them is cancelled before that one's end could fail it.
        """
        lanes = await self._lanes(filter.queue)
        found = await self.read(lambda tx: cancels.matching(tx, lanes, filter, most))

        async def cancel(seqs: Sequence[int]) -> list[str]:
            return await self.write(lambda tx: cancels.cancel_these(tx, self.lanes, seqs, filter.states))

        accepted = await in_turns(found.seqs[::-1], cancel)
        return [job_id for ids in reversed(accepted) for job_id in ids], found.more

    async def count_unfinished(self, filter: cancels.CancelFilter) -> int:
        """Count the jobs that `cancel_where` would find now."""
        lanes = await self._lanes(filter.queue)
        return len((await self.read(lambda tx: cancels.matching(tx, lanes, filter))).seqs)

    async def requeue(self, job_id: str) -> State:
        return await self.write(lambda tx: cancels.requeue(tx, self.lanes, job_id))

    async def reprioritise(self, job_id: str, priority: int | None, urgent: bool | None) -> None:
        await self.write(lambda tx: cancels.reprioritise(tx, self.lanes, job_id, priority, urgent))

    async def change_queue(
        self, name: str, limits: Mapping[str, Any] | None = None, paused: bool | None = None
    ) -> queues.QueueRecord:
        """Change limits or pause; creates the queue if it does not exist."""
        await self.write(lambda tx: queues.add_queue(tx, name))
        return await self.write(lambda tx: queues.change_queue(tx, name, limits, paused))

    async def job(self, job_id: str) -> JobRecord:
        found = await self.read(lambda tx: queries.jobs_by_id(tx, [job_id]))
        if not found:
            raise JobNotFound(job_id)
        return found[0]

    async def log(self, job_id: str, attempt: int | None, place: LogPosition, limit: int) -> LogPage:
        """Return up to `limit` lines of a job's log after a place."""
        page = await self.read(lambda tx: logs.read_log(tx, job_id, attempt, place, limit))
        if not page.entries:
            await self.job(job_id)  # Raises if there is no such job.
        return page

    async def counts(self, queue: str | None = None) -> dict[State, int]:
        """Return the number of jobs in each state. The cost does not depend on the number of jobs."""
        counted, unfolded = await self.read(lambda tx: tallies.counts(tx, queue, self.unfolded))
        self.fold_if_behind(unfolded)
        return counted

    async def stock(self, queue: str) -> Stock:
        """Return the counts of a queue with the total run time of succeeded jobs."""
        found, unfolded = await self.read(lambda tx: tallies.stock(tx, queue, self.unfolded))
        self.fold_if_behind(unfolded)
        return found

    async def statistics(self, queue: str | None, window_us: int) -> dict[str, QueueStatistics]:
        """Return the statistics of one queue, or of all by name, now and over the last `window_us`."""
        found, unfolded = await self.read(lambda tx: tallies.statistics(tx, queue, window_us, self.unfolded))
        self.fold_if_behind(unfolded)
        return found

    async def queue_page(self, after: str, limit: int, window_us: int, like: str | None = None) -> QueuePage:
        """Return the queues that follow this name and hold the text `like`, with their statistics."""

        async def read(tx: Tx) -> tuple[QueuePage, int]:
            page = await queues.queues_after(tx, after, limit, like)
            names = {each.id: each.name for each in page.items}
            numbers, unfolded = await tallies.statistics_of(tx, names, window_us, self.unfolded)
            return QueuePage(page, numbers, await queries.now_us(tx)), unfolded

        found, unfolded = await self.read(read)
        self.fold_if_behind(unfolded)
        return found

    async def overview(self, alive_within_us: int, late_us: int) -> Overview:
        """Return the numbers of the whole installation; the cost depends neither on jobs nor on idle queues."""
        found, unfolded = await self.read(lambda tx: read_overview(tx, alive_within_us, late_us, self.unfolded))
        self.fold_if_behind(unfolded)
        return found

    async def _lanes(self, queue: str | None) -> tuple[int, int]:
        lanes = await self.read(lambda tx: queries.lanes_of(tx, queue))
        if lanes is None:
            raise NotFound(f"there is no queue {quoted(queue)}; a queue exists from its first job or configuration on")
        return lanes

    async def fold(self, limit: int = 2000, rest_us: int = 0) -> int:
        """Add the next batches of deltas to the tallies; return how many. 0 if another instance is folding."""
        with nobody():
            return await self.write(lambda tx: tallies.fold(tx, limit, rest_us))

    def fold_if_behind(self, unfolded: int) -> None:
        """Fold in the background if no worker does, so that the next reader has less to add up.

        Never in the foreground: on SQLite the reader may be inside a transaction that holds the write lock.
        """
        if unfolded > _UNFOLDED_LIMIT and (self._folding is None or self._folding.done()):
            self._folding = asyncio.get_running_loop().create_task(self._fold_all())

    async def _fold_all(self) -> None:
        with contextlib.suppress(DatabaseUnavailable):
            while await self.number_events():
                pass
            while await self.fold():
                pass

    async def number_events(self, limit: int = 1000) -> int:
        with nobody():  # Readers do this, too.
            return await self.write(lambda tx: events.number_events(tx, limit))


class NotSucceeded(Exception):
    """Rolls back a transaction whose attempt turned out to be stale or cancelled."""
