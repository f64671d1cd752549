"""The composition root: settings → store → services → engine. The only file that may import all."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack, overload

from hanbeon.cleanup import cleanup
from hanbeon.clock import Clock, SystemClock, micros
from hanbeon.config import file as config
from hanbeon.config.file import ConfigFile
from hanbeon.config.imports import find_app
from hanbeon.domain.actor import current_user
from hanbeon.domain.events import Event
from hanbeon.domain.explain import Explanation
from hanbeon.domain.hand_move import check_comment
from hanbeon.domain.job import PRIORITY_MAX, PRIORITY_MIN, JobRecord, NewJob, check_name, check_size, check_whole
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.lifecycle import State
from hanbeon.domain.limits import check_limits
from hanbeon.domain.log import LogPage
from hanbeon.domain.reserved_queues import check_limits_free
from hanbeon.domain.statistics import QueueStatistics, check_window
from hanbeon.errors import AppNotOpen, InvalidInput, NotFound
from hanbeon.events.feed import Feed
from hanbeon.events.hub import Hub
from hanbeon.executors.executor import Executor
from hanbeon.host import Host
from hanbeon.job import Job
from hanbeon.messages import Messenger
from hanbeon.outbound.secrets import Secrets
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.service.explain import explain_job
from hanbeon.settings import Settings, load_settings
from hanbeon.store.backends import open_store
from hanbeon.store.batch_cancel import cancel_where
from hanbeon.store.operations import queues as queue_rows
from hanbeon.store.operations.cancel import CancelFilter, RetryNote, mark_done, reprioritise, requeue
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.store.operations.instances import InstanceRecord, instances
from hanbeon.store.operations.prune import TIMINGS_KEPT_US
from hanbeon.store.operations.queries import JobFilter, list_jobs
from hanbeon.store.operations.queues import QueueRecord
from hanbeon.store.operations.tallies import counts, statistics
from hanbeon.store.store import Store
from hanbeon.store.unknown_outcome import enqueue_once
from hanbeon.store.user_transaction import UserTransaction
from hanbeon.surfaces.installation import Installation
from hanbeon.surfaces.store_parts import add_surfaces, migrate
from hanbeon.surfaces.surface import Declarations, Surface, load
from hanbeon.tasks import import_guard
from hanbeon.tasks.build import check_requests, new_job, new_jobs, packed_args, request_of
from hanbeon.tasks.definitions import TaskDefinitions
from hanbeon.tasks.options import check_names
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import Task

if TYPE_CHECKING:
    from hanbeon.engine.worker import Worker
    from hanbeon.setting_keywords import SettingFields
    from hanbeon.surfaces.schedules.keywords import ScheduleSettingsFields
    from hanbeon.tasks.keywords import JobOptionFields

P = ParamSpec("P")
R = TypeVar("R")
_PAGE_LIMIT = 10_000


class App(TaskDefinitions, Installation):
    """Tasks, and the jobs of one database. `async with App("sqlite:///jobs.db") as app:` opens it.

    The service of each surface is an attribute: `app.engine`, `app.offices`, `app.schedules`, `app.chains`,
    `app.workflows`, `app.replays`, `app.exports`.
    """

    def __init__(
        self, url: str | None = None, *, clock: Clock | None = None, **settings: Unpack[SettingFields]
    ) -> None:
        check_names(settings, Settings.model_fields, "an App")
        self.given = {name: value for name, value in {"database_url": url, **settings}.items() if value is not None}
        self.file: ConfigFile | None = None
        self.settings = load_settings(**self.given)
        self.tasks = Registry()
        self.declared: dict[str, Declarations] = {
            each.name: load(each.declarations)() for each in self.surfaces if each.declarations is not None
        }
        self.secrets = Secrets()
        self.messenger = Messenger(self.settings, self.secrets)
        self.clock: Clock = clock or SystemClock()
        self.host = Host()
        self._store: Store | None = None
        self._hub: Hub | None = None

    @classmethod
    def from_file(cls, path: str | Path | None = None, **settings: Unpack[SettingFields]) -> App:
        """Create an App from a `hanbeon.toml`: this path, or HANBEON_CONFIG, or the file in the current folder.

        If the file names an App in Python, that App is used, with the file's tasks added. Settings that are given
        here take precedence over the file's and the environment's.
        """
        check_names(settings, Settings.model_fields, "an App")
        found = config.find(path)
        if found is None:
            raise NotFound(Rule("no_config_file", name=config.NAME, variable=config.VARIABLE))
        file = config.load(found)
        app = cls() if file.app is None else find_app(file.app, App, file.folder)
        return app.use(file, **settings)

    def use(self, file: ConfigFile | None, **settings: Any) -> App:
        """Use this configuration file, if there is one; settings are added to those that the App was given."""
        given = self.given | {name: value for name, value in settings.items() if value is not None}
        before, after = self.file, self.file if file is None else file
        if after is not before or given != self.given:
            self.settings = load_settings(None if after is None else after.settings, **given)
        if before is not None and after is not None and before.origin != after.origin:
            self.tasks.replace(before.origin, ())
            for declared in self.declared.values():
                declared.replace(before.origin, ())
        if after is not None:
            self.tasks.replace(after.origin, after.tasks)
            for name, declared in self.declared.items():
                declared.replace(after.origin, after.surfaces.get(name, ()))
            self.secrets.declare(after.secrets)
        self.messenger.settings = self.settings
        self.file, self.given = after, given
        return self

    # Lifecycle

    async def open(self) -> App:
        """Open the database. SQLite's schema is migrated, PostgreSQL's is only checked."""
        import_guard.refuse_to_open()
        if self._store is None:
            settings = self.settings
            store = open_store(
                settings.database_url,
                self.clock,
                pool_size=settings.pool_size,
                listen_url=settings.listen_url,
                sqlite_host=self.host.sqlite,
                sqlite_notifier=self.host.sqlite_notifier,
            )
            add_surfaces(store, self.surfaces)
            store.max_payload_bytes = settings.max_payload_bytes
            store.trace(on=settings.tracing)
            await store.open()
            self._store, self._hub = store, Hub(store.notifier)
        return self

    @cleanup
    async def close(self) -> None:
        store, hub, self._store, self._hub = self._store, self._hub, None, None
        async with contextlib.AsyncExitStack() as closing:
            if store is not None:
                closing.push_async_callback(store.close)
            if hub is not None:
                closing.push_async_callback(hub.close)
            closing.push_async_callback(self.messenger.close)

    async def __aenter__(self) -> App:
        return await self.open()

    def twin(self) -> App:
        """Return an App with these tasks and settings that is not open, for another event loop."""
        twin = copy.copy(self)
        twin._store = twin._hub = None
        twin.messenger = Messenger(self.settings, self.secrets)
        return twin

    async def migrate(self) -> list[int]:
        """Migrate the database's schema; returns the versions applied."""
        return await migrate(self.settings.database_url)

    @property
    def is_open(self) -> bool:
        return self._store is not None

    @property
    def store(self) -> Store:
        if self._store is None:
            raise AppNotOpen(Rule("app_not_open"))
        return self._store

    @property
    def hub(self) -> Hub:
        if self._hub is None:
            raise AppNotOpen(Rule("app_not_open"))
        return self._hub

    # Surfaces

    def _service(self, surface: Surface) -> Any:
        return load(surface.service)(self)

    def schedule(self, name: str, task: Task[..., Any] | str, **fields: Unpack[ScheduleSettingsFields]) -> None:
        """Declare a schedule: `app.schedule("nightly", report, cron="0 3 * * *")`. Workers apply it when they start.

        Fields that an operator changes keep their value until the declaration changes.
        """
        self.declared["schedules"].declare(name, {"task": task, **fields})

    # Enqueueing

    @overload
    async def enqueue(
        self,
        task: str,
        args: Mapping[str, Any] | None = None,
        /,
        *,
        transaction: Any = None,
        **options: Unpack[JobOptionFields],
    ) -> Job[Any]: ...
    @overload
    async def enqueue(
        self,
        task: Task[..., R] | JobRequest[R],
        args: Mapping[str, Any] | None = None,
        /,
        *,
        transaction: Any = None,
        **options: Unpack[JobOptionFields],
    ) -> Job[R]: ...
    async def enqueue(
        self,
        task: Task[..., Any] | JobRequest[Any] | str,
        args: Mapping[str, Any] | None = None,
        /,
        *,
        transaction: Any = None,
        **options: Unpack[JobOptionFields],
    ) -> Job[Any]:
        """Create one job: `enqueue(send.call(to="a"), priority=5)`, or by name: `enqueue("send", {"to": "a"})`.

        `transaction`: a connection inside your own transaction; the job exists if and only if that commits.
        """
        request = request_of(self.tasks, task, args, options)
        new = [new_job(self.tasks, self.settings, request)]
        (answer,) = await self._enqueue(new, transaction)
        return Job(self, answer.id, request.task, created=answer.created)

    async def enqueue_many(self, requests: Iterable[JobRequest[R]], *, transaction: Any = None) -> list[Job[R]]:
        """Create all of these jobs or none, in this order; they may depend on each other.

        `transaction`: a connection inside your own transaction; the jobs exist if and only if that commits.
        """
        requests = check_requests(requests)
        new = new_jobs(self.tasks, self.settings, requests)
        if not new:
            return []
        answers = await self._enqueue(new, transaction)
        return [
            Job(self, answer.id, request.task, created=answer.created)
            for request, answer in zip(requests, answers, strict=True)
        ]

    async def _enqueue(self, new: Sequence[NewJob], transaction: Any) -> list[Enqueued]:
        if transaction is None:
            return await enqueue_once(self.store, new)
        return await self.store.enqueue_within(transaction, new)

    def transaction(self) -> contextlib.AbstractAsyncContextManager[UserTransaction]:
        """A transaction on the jobs' database: `async with app.transaction() as tx:`, `await tx.execute(…)`.

        Give it to `enqueue(…, transaction=tx)`: writes and jobs commit together at the end of the block, or an
        exception undoes both. On SQLite it holds the only write lock, so it is limited to 5 seconds.
        """
        return self.store.transaction()

    # Jobs

    def job(self, job_id: str) -> Job[Any]:
        """A handle on a job by its id; its methods raise if there is no such job."""
        return Job(self, job_id)

    async def jobs(
        self,
        *,
        queue: str | None = None,
        states: Sequence[str] | None = None,
        task: str | None = None,
        role: str | None = None,
        work_item: str | None = None,
        newest: bool = False,
        after: int = 0,
        limit: int = 100,
    ) -> list[JobRecord]:
        """List jobs in creation order, or newest first; resume after the `seq` of the last one."""
        check_whole("after", after, 0)
        check_whole("limit", limit, 1, _PAGE_LIMIT)
        chosen = None if states is None else tuple(_state(state) for state in states)
        filter = JobFilter(queue=queue, states=chosen, task=task, role=role, work_item=work_item, newest=newest)
        return await self.store.read(lambda tx: list_jobs(tx, filter, after, limit, self.store.unfolded))

    async def cancel(self, job: Job[Any] | str) -> State:
        """Cancel a job; `running` means that its work is being stopped, and `cancelled` follows when it has."""
        return await Job(self, _id(job)).cancel()

    async def cancel_where(
        self,
        *,
        queue: str | None = None,
        task: str | None = None,
        role: str | None = None,
        work_item: str | None = None,
        states: Sequence[str] | None = None,
    ) -> list[str]:
        """Cancel every unfinished job that matches; returns the accepted ids."""
        default = CancelFilter()
        chosen = default.states if states is None else tuple(_state(state) for state in states)
        filter = CancelFilter(queue=queue, task=task, role=role, work_item=work_item, states=chosen)
        return await cancel_where(self.store, filter)

    async def retry(
        self, job: Job[Any] | str, *, comment: str | None = None, args: Mapping[str, Any] | None = None
    ) -> State:
        """Run a failed or cancelled job again, with all its retries; attempt numbers continue.

        Its next attempts find the comment as `ctx.comment`, and get the arguments that are given.
        """
        check_comment(comment, required=False)
        packed = None
        if args is not None:
            task = (await self.store.job(_id(job))).task
            packed = packed_args(self.tasks, task, args, self.settings.max_payload_bytes)
        note = RetryNote(current_user(), comment, packed)
        return await self.store.write(lambda tx: requeue(tx, self.store.lanes, _id(job), note))

    async def mark_done(self, job: Job[Any] | str, comment: str, *, result: Any = None) -> None:
        """Mark a failed or cancelled job as done, and say why; its dependents go on as if it had succeeded."""
        check_comment(comment, required=True)
        text = to_json_text(result, "the result", "result")
        check_size("result", text, self.settings.max_payload_bytes)
        user = current_user()
        await self.store.write(lambda tx: mark_done(tx, self.store.lanes, _id(job), comment, result=text, user=user))

    async def reprioritise(
        self, job: Job[Any] | str, *, priority: int | None = None, urgent: bool | None = None
    ) -> None:
        """Move an unfinished job in its queue."""
        if priority is None and urgent is None:
            raise InvalidInput(Rule("priority_or_urgent"), field="priority")
        if priority is not None:
            check_whole("priority", priority, PRIORITY_MIN, PRIORITY_MAX)
        if urgent is not None and not isinstance(urgent, bool):
            raise InvalidInput(Rule("must_be", what=Rule("python_boolean"), got=quoted(urgent)), field="urgent")
        await self.store.write(lambda tx: reprioritise(tx, self.store.lanes, _id(job), priority, urgent))

    # Queues

    async def configure_queue(
        self,
        name: str,
        *,
        max_concurrent: int | None = None,
        max_per_key: int | None = None,
        roles: Mapping[str, int] | None = None,
        keys: Mapping[str, int] | None = None,
    ) -> QueueRecord:
        """Change limits of a queue; 0 means no limit. In force at the next claim, on every instance."""
        check_name("queue", name, required=True)
        given = {"max_concurrent": max_concurrent, "max_per_key": max_per_key, "roles": roles, "keys": keys}
        changes = {field: limit for field, limit in given.items() if limit is not None}
        check_limits_free(name, changes)
        return await self.store.change_queue(name, check_limits(changes))

    async def pause(self, queue: str) -> QueueRecord:
        """Start no more jobs of a queue; running ones finish."""
        return await self.store.change_queue(queue, paused=True)

    async def resume(self, queue: str) -> QueueRecord:
        """Start waiting jobs of a paused queue again."""
        return await self.store.change_queue(queue, paused=False)

    async def queues(self) -> list[QueueRecord]:
        """All queues, by name."""
        return await self.store.read(queue_rows.queues)

    async def counts(self, queue: str | None = None) -> dict[State, int]:
        """Count the jobs in each state, exactly; as cheap with ten million jobs as with ten."""
        return await self.store.read(lambda tx: counts(tx, queue, self.store.unfolded))

    async def statistics(self, queue: str | None = None, *, window: float = 3600.0) -> dict[str, QueueStatistics]:
        """Statistics of a queue, or of each queue by name: jobs by state, and activity in the last `window` seconds.

        Activity is how many were enqueued, started, succeeded, failed, …, and percentiles of wait and run times.
        """
        check_window(window, TIMINGS_KEPT_US)
        return await self.store.read(lambda tx: statistics(tx, queue, micros(window), self.store.unfolded))

    # Observing

    @property
    def incarnation(self) -> str:
        """The incarnation of the open database; a restore begins another, with other event ids."""
        return self.store.incarnation

    async def events(self, after: int | str = 0) -> AsyncIterator[Event]:
        """Iterate over every event after `after` in commit order, without end; resume with the last id seen.

        `after` may be `<incarnation>:<id>`: raises OtherIncarnation after a restore, EventsMissed if events are gone.
        """
        feed = Feed(self.store, self.hub)
        async for event in feed.follow((await feed.position(after)).without_gap().after):
            yield event

    async def events_after(self, after: int | str = 0) -> list[Event]:
        """Return the events after `after`, up to one page; `after` and errors are those of `events`."""
        feed = Feed(self.store, self.hub)
        return await feed.read((await feed.position(after)).without_gap().after)

    async def log(
        self, job: Job[Any] | str, *, attempt: int | None = None, after: str | None = None, limit: int = 1_000
    ) -> LogPage:
        """Return up to `limit` lines of a job's log, of one attempt or of all; also while it runs.

        Continue with `after=page.after`: at once if `page.more` is true, and later to follow the log.
        """
        return await Job(self, _id(job)).log(attempt=attempt, after=after, limit=limit)

    async def explain(self, job: Job[Any] | str) -> Explanation:
        """Explain why it is not running: every dependency, time, pause, full slot, missing worker; or why it failed."""
        return await explain_job(self.store, _id(job), self._alive_within_us)

    async def instances(self) -> list[InstanceRecord]:
        """List the instances that work, or recently worked, on this database."""
        return await self.store.read(lambda tx: instances(tx, self._alive_within_us))

    @property
    def _alive_within_us(self) -> int:
        return round(self.settings.lease * 1_000_000)

    # Working

    def worker(self, *, concurrency: int | None = None, name: str | None = None) -> Worker:
        """Create a worker for the tasks of this App."""
        from hanbeon.worker_factory import whole_worker  # Not for programs that only enqueue.

        return whole_worker(self, concurrency, name)

    def surface_worker(self, name: str, settings: Settings, queues: Sequence[str]) -> tuple[Worker, Sequence[Executor]]:
        """Create a worker for one surface, for a call that drives it in this process; see `worker_factory`."""
        from hanbeon.worker_factory import surface_worker

        return surface_worker(self, name, settings, queues)


def _id(job: Any) -> str:
    if isinstance(job, str | Job):
        return job if isinstance(job, str) else job.id
    raise InvalidInput(Rule("must_be", what=Rule("job_or_id"), got=quoted(job)), field="job")


def _state(word: str) -> State:
    try:
        return State(word)
    except ValueError:
        raise InvalidInput(
            Rule("must_be", what=Rule("one_of", choices=State), got=repr(word)), field="states"
        ) from None
