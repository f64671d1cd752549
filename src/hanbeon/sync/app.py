"""The App for blocking code; `services` derives each coroutine of `App` that is not written out here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from hanbeon.app import App
from hanbeon.domain.events import Event
from hanbeon.domain.job import NewJob
from hanbeon.errors import HanbeonError
from hanbeon.store.external.caller import identify
from hanbeon.store.external.connections import sync_caller_of
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.store.tx import drive
from hanbeon.store.unknown_outcome import enqueue_once
from hanbeon.sync.background import Background
from hanbeon.sync.job import SyncJob
from hanbeon.sync.services import BlockingApp
from hanbeon.tasks.build import check_requests, new_jobs, request_of
from hanbeon.tasks.context import SyncTransaction
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import Task

if TYPE_CHECKING:
    from hanbeon.tasks.keywords import JobOptionFields

R = TypeVar("R")


class SyncApp(BlockingApp):
    """`jobs = SyncApp(app)`: create and watch jobs without an event loop, from any thread, also after a fork.

    It opens with its first call, in a thread of its own, and leaves `app` alone. Workers are run by `hanbeon worker`.
    It has the coroutines of the App, blocking; so does the service of each surface, an attribute as of the App.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._background = Background(app)

    # Lifecycle

    def open(self) -> SyncApp:
        """Open the database now instead of with the first call. Migrates SQLite's schema; checks PostgreSQL's."""
        self._background.open()
        return self

    def close(self) -> None:
        """Close the database and end the thread; does nothing if it is closed."""
        self._background.close()

    def __enter__(self) -> SyncApp:
        return self.open()

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        return self._background.is_open

    def migrate(self) -> list[int]:
        """Migrate the database's schema; returns the versions applied."""
        return Background.once(self._app.twin().migrate)

    # Enqueueing

    @overload
    def enqueue(
        self,
        task: str,
        args: Mapping[str, Any] | None = None,
        /,
        *,
        transaction: Any = None,
        **options: Unpack[JobOptionFields],
    ) -> SyncJob[Any]: ...
    @overload
    def enqueue(
        self,
        task: Task[..., R] | JobRequest[R],
        args: Mapping[str, Any] | None = None,
        /,
        *,
        transaction: Any = None,
        **options: Unpack[JobOptionFields],
    ) -> SyncJob[R]: ...
    def enqueue(
        self,
        task: Task[..., Any] | JobRequest[Any] | str,
        args: Mapping[str, Any] | None = None,
        /,
        *,
        transaction: Any = None,
        **options: Unpack[JobOptionFields],
    ) -> SyncJob[Any]:
        """Create one job: `enqueue(send.call(to="a"), priority=5)`, or by name: `enqueue("send", {"to": "a"})`.

        `transaction`: a connection inside your own transaction; the job exists if and only if that commits.
        """
        request = request_of(self._app.tasks, task, args, options)
        return self.enqueue_many([request], transaction=transaction)[0]

    def enqueue_many(self, requests: Iterable[JobRequest[R]], *, transaction: Any = None) -> list[SyncJob[R]]:
        """Create all of these jobs or none, in this order; they may depend on each other.

        `transaction`: a connection inside your own transaction; the jobs exist if and only if that commits.
        """
        requests = check_requests(requests)
        new = new_jobs(self._app.tasks, self._app.settings, requests)
        if not new:
            return []
        answers = self._enqueue(new, transaction)
        return [
            SyncJob(self._background, answer.id, request.task, created=answer.created)
            for request, answer in zip(requests, answers, strict=True)
        ]

    def _enqueue(self, new: Sequence[NewJob], transaction: Any) -> list[Enqueued]:
        if transaction is None:
            return self._background.run(lambda app: enqueue_once(app.store, new))
        if isinstance(transaction, SyncTransaction):
            return self._background.run(lambda app: app.store.enqueue_within(transaction.user_transaction, new))
        # The caller's connection is used in the caller's thread, our own in ours.
        caller = sync_caller_of(transaction)
        identity = drive(identify(caller))

        async def prepare(app: App) -> Any:
            await app.store.prepare_within(identity, new)
            return app.store

        store = self._background.run(prepare)
        answers: list[Enqueued] = drive(store.enqueue_prepared(caller, new))
        return answers

    @contextlib.contextmanager
    def transaction(self) -> Iterator[SyncTransaction]:
        """A transaction on the jobs' database: `with jobs.transaction() as tx:`, `tx.execute(…)`.

        Give it to `enqueue(…, transaction=tx)`: writes and jobs commit together at the end of the block, or an
        exception undoes both. On SQLite it holds the only write lock, so it is limited to 5 seconds.
        """
        tx = self._background.run(_begin)
        try:
            yield tx
        except BaseException:
            with contextlib.suppress(HanbeonError):
                self._background.run(lambda _: tx.user_transaction.abandon())
            raise
        self._background.run(lambda app: app.store.commit(tx.user_transaction))

    # Jobs

    def job(self, job_id: str) -> SyncJob[Any]:
        """A handle on a job by its id; its methods raise if there is no such job."""
        return SyncJob(self._background, job_id)

    # Observing

    @property
    def incarnation(self) -> str:
        """The incarnation of the open database: a restore from a backup begins another, with other event ids."""
        return self._background.run(_incarnation)

    def events(self, after: int | str = 0) -> Iterator[Event]:
        """Iterate over every event after `after` in commit order, without end; resume with the last id seen.

        `after` may be `<incarnation>:<id>`, which raises OtherIncarnation after a restore. Raises EventsMissed if
        events after it were deleted, or if it is ahead of all events.
        """
        while True:
            place = after
            for event in self._background.run(lambda app, place=place: _next_events(app, place), patient=True):  # type: ignore[misc]
                after = event.id
                yield event


async def _begin(app: App) -> SyncTransaction:
    return SyncTransaction(await app.store.begin(), asyncio.get_running_loop())


async def _incarnation(app: App) -> str:
    return app.incarnation


async def _next_events(app: App, after: int | str) -> list[Event]:
    """Wait for a page of events."""
    async with contextlib.aclosing(app.events(after)) as events:  # type: ignore[type-var]
        async for _ in events:
            break
    return await app.events_after(after)
