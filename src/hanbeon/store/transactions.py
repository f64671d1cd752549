"""Transactions of the store: its one door, for both databases."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from hanbeon.cleanup import cleanup
from hanbeon.clock import Clock
from hanbeon.domain.actor import Actor, current_actor, nobody
from hanbeon.domain.trace_context import current_trace
from hanbeon.errors import DatabaseCorrupt, DatabaseRestored, DatabaseUnavailable
from hanbeon.rule import Rule
from hanbeon.store import statements
from hanbeon.store.database.notify import Notifier
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.database.sqlite import SqliteDatabase
from hanbeon.store.operations import events, tallies
from hanbeon.store.operations.actions import add_action
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.retention import Retention
from hanbeon.store.operations.tallies import UnfoldedBatches
from hanbeon.store.tx import JOBS_A_SECOND, AfterCommit, TakesLonger, TraceScope, Tx
from hanbeon.store.user_transaction import UserTransaction

if TYPE_CHECKING:
    from hanbeon.store.fast.path import FastPath
    from hanbeon.telemetry.tracer import Tracer


async def probe_write(tx: Tx) -> None:
    await tx.fetch("probe_write")


T = TypeVar("T")
_UNFOLDED_LIMIT = 1000


class Transactions:
    """One door to the database: `read` and `write` run an operation in a transaction of its own."""

    def __init__(
        self,
        database: SqliteDatabase | PostgresDatabase,
        notifier: Notifier,
        clock: Clock | None = None,
        fast: FastPath | None = None,
    ) -> None:
        self.database = database
        self.fast = database.fast = fast
        self.notifier = notifier
        self._clock = clock
        self.max_payload_bytes: int | None = None
        """The limit of what a job carries, as of the next `open`."""
        self.lanes = LaneCache(clock)
        """Passed to the operations that need it; learns of new lanes after their transaction has committed."""
        self.unfolded = UnfoldedBatches()
        """Passed to the operations that read tallies, too."""
        self.restored = asyncio.Event()
        """Set once an operation was refused because the database was restored: nothing more can be done with it."""
        self.retention: Sequence[Retention] | None = None
        """The parts of the surfaces in retention; without them nothing is pruned."""
        self.tracer: Tracer | None = None
        """Set while tracing is on: transactions then note which span caused the jobs that they create."""
        self._folding: asyncio.Task[None] | None = None
        self.damage: DatabaseCorrupt | None = None
        """The last sign of damaged pages. It stays until a restart: nothing else tells that all have been repaired."""
        self._user_transactions: weakref.WeakKeyDictionary[UserTransaction, None] = weakref.WeakKeyDictionary()

    async def open(self) -> None:
        statements.load(self.database.dialect)
        # Another database may be there now.
        self.lanes, self.unfolded = LaneCache(self._clock), UnfoldedBatches()
        self.lanes.max_payload_bytes = self.max_payload_bytes
        self.restored.clear()
        self.damage = None
        await self.database.open()

    def trace(self, *, on: bool) -> None:
        """Turn tracing on or off. OpenTelemetry, which is an extra, is imported only if it is on."""
        if on:
            from hanbeon.telemetry.tracer import Tracer

            self.tracer = Tracer()
        else:
            self.tracer = None

    @property
    def incarnation(self) -> str:
        """The incarnation of the open database."""
        if self.database.incarnation is None:
            raise DatabaseUnavailable(Rule("database_closed"))
        return self.database.incarnation

    @cleanup
    async def close(self) -> None:
        if self._folding is not None:
            self._folding.cancel()
            await asyncio.wait([self._folding])
        for transaction in list(self._user_transactions):
            await transaction.abandon()
        await self.notifier.close()
        await self.database.close()
        if self.tracer is not None:
            await self.tracer.flush()

    async def responds(self, seconds: float) -> bool:
        """True if the database answers a new connection within this time; what else it does is not waited for."""
        return await self.database.responds(seconds)

    async def probe_write(self) -> None:
        """Raise DatabaseUnavailable if the database takes no writes now, or a disk that can be seen is full."""
        await self.database.check_room()
        await self.write(probe_write)

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Run the operation in a read-only transaction, on one consistent view."""
        with self._noticing():
            answer = await self.database.read(operation)
        if self.unfolded.behind > _UNFOLDED_LIMIT:
            self._fold_in_background()
        return answer

    async def write(self, operation: Callable[[Tx], Awaitable[T]], jobs: int = 0) -> T:
        """Run the operation in a transaction and commit it, then run its callbacks and wake listeners.

        `jobs`: how many jobs it creates, which extends its time limit. On behalf of an actor, it is recorded with it.
        """
        self._refuse_damaged()
        if (actor := current_actor()) is not None:
            operation = partial(_recorded, operation, actor)
        if self.tracer is not None:
            operation = self._traced(operation)
        with self._noticing():
            answer, after = await self._transact(operation, jobs / JOBS_A_SECOND)
        self._committed(after)
        return answer

    def _traced(self, operation: Callable[[Tx], Awaitable[T]]) -> Callable[[Tx], Awaitable[T]]:
        """Tell the transaction for which span it runs; read here, because SQLite's thread has no such context."""
        if self.tracer is None:
            return operation
        return partial(_within_scope, operation, TraceScope(current_trace() or self.tracer.caller()))

    async def _transact(self, operation: Callable[[Tx], Awaitable[T]], seconds: float) -> tuple[T, AfterCommit]:
        while True:
            try:
                return await self.database.transact(operation, seconds)
            except TakesLonger as longer:
                # More each time: what there is to do may have grown meanwhile.
                seconds = max(longer.seconds, seconds + 1)

    @contextlib.contextmanager
    def _noticing(self) -> Iterator[None]:
        """Remember what stays true of the database until a restart."""
        try:
            yield
        except DatabaseCorrupt as error:
            self.damage = error
            raise
        except DatabaseRestored:
            self.restored.set()
            raise

    def _refuse_damaged(self) -> None:
        if self.damage is not None and not self.database.writes_if_damaged:
            raise DatabaseCorrupt(Rule("damaged_until_restart", damage=self.damage))

    def _committed(self, after: AfterCommit) -> None:
        for callback in after.callbacks:
            callback()
        self.notifier.send(after.hints)

    async def fold(self, limit: int = 2000, rest_us: int = 0) -> int:
        """Add the next batches of deltas to the tallies; return how many. 0 if another instance is folding."""
        with nobody():
            return await self.write(lambda tx: tallies.fold(tx, limit, rest_us))

    def _fold_in_background(self) -> None:
        """Fold if no worker does, so that the next reader has less to add up.

        Never in the foreground: on SQLite the reader may be inside a transaction that holds the write lock.
        """
        self.unfolded.behind = 0
        if self._folding is None or self._folding.done():
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

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[UserTransaction]:
        """Open a transaction that commits at the end of the block and rolls back on an exception."""
        transaction = await self.begin()
        try:
            yield transaction
            await self.commit(transaction)
        finally:
            await transaction.abandon()

    async def commit(self, transaction: UserTransaction) -> None:
        """Commit a user transaction, and wake listeners."""
        with self._noticing():
            _, after = await transaction.finish(_nothing)
        self._committed(after)

    async def begin(self) -> UserTransaction:
        """Begin a transaction for user code. One that is still open when the store closes is rolled back."""
        self._refuse_damaged()
        with self._noticing():
            transaction = await self.database.begin()
        self._user_transactions[transaction] = None
        return transaction


async def _within_scope(operation: Callable[[Tx], Awaitable[T]], scope: TraceScope, tx: Tx) -> T:
    tx.tracing = scope
    return await operation(tx)


async def _recorded(operation: Callable[[Tx], Awaitable[T]], actor: Actor, tx: Tx) -> T:
    answer = await operation(tx)
    await add_action(tx, actor, tx.moves)
    return answer


async def _nothing(_: Tx) -> None:
    return
