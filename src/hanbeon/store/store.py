"""The store: one interface to both databases, which run the same operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from hanbeon.domain.actor import current_actor
from hanbeon.domain.job import Claimed, JobRecord, NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.errors import (
    DatabaseRestored,
    InvalidInput,
    OtherDatabase,
)
from hanbeon.rule import Rule
from hanbeon.store.database.postgres import PostgresUserTransaction
from hanbeon.store.database.sqlite import SqliteDatabase, SqliteUserTransaction
from hanbeon.store.external.caller import Caller, identify, within
from hanbeon.store.external.connections import caller_of
from hanbeon.store.operations import cancel as cancels
from hanbeon.store.operations import claim as claims
from hanbeon.store.operations import complete as completions
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.operations import lease, logs, prune, queries, queues, traces
from hanbeon.store.operations.enqueue import RowVersion
from hanbeon.store.operations.hand_moves import with_comments
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.statements import statement
from hanbeon.store.transactions import Transactions
from hanbeon.store.tx import Tx
from hanbeon.store.user_transaction import UserTransaction

if TYPE_CHECKING:
    from hanbeon.store.fast.path import FastPath

T = TypeVar("T")
_ONLY_OURS = Rule("only_our_transaction")


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
        # Of the App's own transaction, a refusal of the server says nothing about how it was begun.
        caller = transaction if isinstance(transaction, PostgresUserTransaction) else await caller_of(transaction)
        await self.prepare_within(await identify(caller), jobs)
        return await self.enqueue_prepared(caller, jobs)

    async def prepare_within(self, identity: str, jobs: Sequence[NewJob]) -> None:
        """Validate the jobs and create their lanes, before a write in a transaction of the database `identity`."""
        enqueues.check_batch(jobs)
        database = self.database
        if isinstance(database, SqliteDatabase):
            raise InvalidInput(_ONLY_OURS, field="transaction")
        # Its own identity may be from before a restart of the server.
        if identity != await database.identity() and identity != await database.identity(again=True):
            raise OtherDatabase(
                Rule("other_database"),
                field="transaction",
            )
        await self._prepare_lanes(jobs)

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

    async def _prepare_lanes(self, jobs: Sequence[NewJob]) -> None:
        """Create the missing lanes of these jobs, in a transaction of their own."""
        names = [job.lane for job in jobs]
        if self.lanes.missing(names):
            await self.write(lambda tx: self.lanes.ensure(tx, names))

    async def claim(self, request: claims.ClaimRequest) -> claims.ClaimAnswer:
        """Claim at most `want` jobs, page by page until some are found. None claimed: no ready job may start now."""
        if request.want <= 0:
            return claims.ClaimAnswer([], request.cursor)
        answer = await self._claim_pages(request)
        if any(job.fence > 1 for job in answer.jobs):
            answer = answer._replace(jobs=await self.read(partial(with_comments, jobs=answer.jobs)))
        return answer

    async def _claim_pages(self, request: claims.ClaimRequest) -> claims.ClaimAnswer:
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

    async def note_begin(self, held: lease.Lease, *, begun: bool) -> bool:
        return await self.write(lambda tx: lease.note_begin(tx, held, begun=begun))

    async def prune(self, older_than_us: int, limit: int) -> int:
        """Prune rows older than this by the database's clock, without `retain`'s clock check."""
        return await self.write(lambda tx: prune.prune(tx, self.lanes, self.retention, older_than_us, limit))

    async def cancel(self, job_id: str) -> State:
        return await self.write(lambda tx: cancels.cancel(tx, self.lanes, job_id))

    async def change_queue(
        self, name: str, limits: Mapping[str, Any] | None = None, paused: bool | None = None
    ) -> queues.QueueRecord:
        """Change limits or pause; creates the queue if it does not exist."""
        await self.write(lambda tx: queues.add_queue(tx, name))
        return await self.write(lambda tx: queues.change_queue(tx, name, limits, paused))

    async def job(self, job_id: str) -> JobRecord:
        return await self.read(lambda tx: queries.job_with_failure(tx, job_id))


class NotSucceeded(Exception):
    """Rolls back a transaction whose attempt turned out to be stale or cancelled."""
