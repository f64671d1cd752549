"""The composition root: settings → store → services → engine. The only file that may import all."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from hanbeon.clock import Clock, SystemClock
from hanbeon.domain.events import Event
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.domain.limits import QueueLimits
from hanbeon.domain.retry import Backoff, OnLost
from hanbeon.engine.worker import Worker
from hanbeon.errors import AppNotOpen, InvalidInput, TaskDefinitionError, UnknownTask
from hanbeon.events.feed import Feed
from hanbeon.events.hub import Hub
from hanbeon.executors.coroutine import AsyncExecutor
from hanbeon.executors.port import Executor
from hanbeon.executors.thread import ThreadExecutor
from hanbeon.job import Job
from hanbeon.settings import Settings, load_settings
from hanbeon.store.operations.cancel import CancelFilter
from hanbeon.store.operations.instances import InstanceRecord
from hanbeon.store.operations.queues import QueueRecord
from hanbeon.store.operations.read import JobFilter
from hanbeon.store.port import Store, migrate, open_store
from hanbeon.tasks.context import Context, SyncContext
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import PROCESS, Task, TaskOptions

P = ParamSpec("P")
R = TypeVar("R")


class App:
    """Tasks, and the jobs of one database. `async with App("sqlite:///jobs.db") as app:` opens it."""

    def __init__(self, url: str | None = None, *, clock: Clock | None = None, **settings: Any) -> None:
        unknown = settings.keys() - Settings.model_fields.keys()
        if unknown:
            raise InvalidInput(
                f"{', '.join(sorted(unknown))}: no such setting; there are {', '.join(sorted(Settings.model_fields))}"
            )
        self.settings = load_settings(database_url=url, **settings)
        self.tasks = Registry()
        self._clock = clock or SystemClock()
        self._store: Store | None = None
        self._hub: Hub | None = None

    # Life

    async def open(self) -> App:
        """Open the database: SQLite's schema is brought up to date, PostgreSQL's is checked."""
        if self._store is None:
            store = open_store(
                self.settings.database_url,
                self._clock,
                pool_size=self.settings.pool_size,
                listen_url=self.settings.listen_url,
            )
            await store.open()
            self._store, self._hub = store, Hub(store.waker)
        return self

    async def close(self) -> None:
        store, hub, self._store, self._hub = self._store, self._hub, None, None
        if hub is not None:
            await hub.close()
        if store is not None:
            await store.close()

    async def __aenter__(self) -> App:
        return await self.open()

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def migrate(self) -> list[int]:
        """Bring the database's schema up to date; the versions applied."""
        return await migrate(self.settings.database_url)

    @property
    def store(self) -> Store:
        if self._store is None:
            raise AppNotOpen("the App is not open; use `async with app:` or `await app.open()`")
        return self._store

    @property
    def hub(self) -> Hub:
        if self._hub is None:
            raise AppNotOpen("the App is not open; use `async with app:` or `await app.open()`")
        return self._hub

    # Tasks

    @overload
    def task(self, function: Callable[Concatenate[Context, P], Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def task(self, function: Callable[Concatenate[SyncContext, P], R], /) -> Task[P, R]: ...
    @overload
    def task(self, function: Callable[P, Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def task(self, function: Callable[P, R], /) -> Task[P, R]: ...
    @overload
    def task(
        self,
        *,
        name: str | None = None,
        queue: str = ...,
        role: str = ...,
        priority: int = ...,
        timeout: float | None = ...,
        retries: int = ...,
        retry_delay: float = ...,
        backoff: str = ...,
        jitter: float = ...,
        on_lost: str = ...,
        executor: str | None = ...,
    ) -> Decorator: ...
    def task(self, function: Any = None, *, name: str | None = None, **options: Any) -> Any:
        """Register a function as a task; plain or with options. The function's first parameter may be a context."""

        def register(function: Callable[..., Any]) -> Task[..., Any]:
            task: Task[..., Any] = Task(name or function.__name__, function, _options(options))
            if task.executor == PROCESS:
                raise TaskDefinitionError(
                    f"task {task.name!r} has a timeout but is a plain function, and a thread cannot be "
                    'stopped. Make it async, or say executor="thread" and look at ctx.stopping'
                )
            self.tasks.add(task)
            return task

        if function is None:
            return register
        if not inspect.isfunction(function):
            raise TaskDefinitionError("@app.task decorates a function; options go by name: @app.task(retries=5)")
        return register(function)

    # Making jobs

    async def enqueue(
        self, task: Task[..., R] | JobRequest[R] | str, args: Mapping[str, Any] | None = None, /, **options: Any
    ) -> Job[R]:
        """Make one job: `enqueue(send.call(to="a"), priority=5)`, or by name: `enqueue("send", {"to": "a"})`."""
        if isinstance(task, JobRequest):
            if args is not None:
                raise InvalidInput("the request has its arguments already; pass them once", field="args")
            request = task
        else:
            known = self.tasks.get(task) if isinstance(task, str) else task
            request = JobRequest(task=known, args=known.signature.pack((), args or {}))
        return (await self.enqueue_many([request.set(**options) if options else request]))[0]

    async def enqueue_many(self, requests: Iterable[JobRequest[R]]) -> list[Job[R]]:
        """Make all of these jobs or none, in this order; they may depend on each other."""
        requests = list(requests)
        new = []
        for request in requests:
            if self.tasks.get(request.task.name) is not request.task:
                raise UnknownTask(f"task {request.task.name!r} belongs to another App", field="task")
            job = request.to_new_job(self.settings.zone)
            job.validate(self.settings.max_payload_bytes)
            new.append(job)
        if not new:
            return []
        answers = await self.store.enqueue(new)
        return [
            Job(self, answer.id, request.task, created=answer.created)
            for request, answer in zip(requests, answers, strict=True)
        ]

    # Jobs

    def job(self, job_id: str) -> Job[Any]:
        """A handle on a job by its id; whether it exists shows when it is asked."""
        return Job(self, job_id)

    async def jobs(
        self,
        *,
        queue: str | None = None,
        states: Sequence[str] | None = None,
        task: str | None = None,
        role: str | None = None,
        work_item: str | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> list[JobRecord]:
        """Jobs in creation order; go on behind the `seq` of the last one."""
        chosen = None if states is None else tuple(_state(state) for state in states)
        filter = JobFilter(queue=queue, states=chosen, task=task, role=role, work_item=work_item)
        return await self.store.list_jobs(filter, after, limit)

    async def cancel(self, job: Job[Any] | str) -> State:
        """Cancel a job; `running` means that its work has been told to stop and will be `cancelled` when it has."""
        return await self.store.cancel(_id(job))

    async def cancel_where(
        self,
        *,
        queue: str | None = None,
        task: str | None = None,
        role: str | None = None,
        work_item: str | None = None,
        states: Sequence[str] | None = None,
    ) -> list[str]:
        """Cancel every unfinished job that matches; the ids accepted."""
        default = CancelFilter()
        chosen = default.states if states is None else tuple(_state(state) for state in states)
        filter = CancelFilter(queue=queue, task=task, role=role, work_item=work_item, states=chosen)
        return await self.store.cancel_where(filter)

    async def retry(self, job: Job[Any] | str) -> State:
        """Try a failed or cancelled job again, with all its retries; attempt numbers go on."""
        return await self.store.requeue(_id(job))

    async def reprioritise(
        self, job: Job[Any] | str, *, priority: int | None = None, urgent: bool | None = None
    ) -> None:
        """Move an unfinished job in its queue."""
        if priority is not None and not -(2**31) <= priority < 2**31:
            raise InvalidInput(f"{priority} is out of range; use a 32-bit number, lower runs first", field="priority")
        await self.store.reprioritise(_id(job), priority, urgent)

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
        changes = {
            field: value
            for field, value in {
                "max_concurrent": max_concurrent,
                "max_per_key": max_per_key,
                "roles": None if roles is None else dict(roles),
                "keys": None if keys is None else dict(keys),
            }.items()
            if value is not None
        }
        for field, value in changes.items():
            for number in value.values() if isinstance(value, dict) else [value]:
                if number < 0:
                    raise InvalidInput("a limit cannot be negative; 0 means no limit", field=field)
        return await self.store.change_queue(name, changes)

    async def pause(self, queue: str) -> QueueRecord:
        """Start nothing more of a queue; what runs finishes."""
        return await self.store.change_queue(queue, paused=True)

    async def resume(self, queue: str) -> QueueRecord:
        return await self.store.change_queue(queue, paused=False)

    async def queues(self) -> list[QueueRecord]:
        return await self.store.queues()

    async def counts(self, queue: str | None = None) -> dict[State, int]:
        """How many jobs are in each state."""
        return await self.store.counts(queue)

    # Watching

    async def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Every event behind `after` in the order of commits, for ever; resume with the last id seen."""
        async for event in Feed(self.store, self.hub).follow(after):
            yield event

    async def events_after(self, after: int = 0) -> list[Event]:
        """The events there are behind `after`, up to a page of them."""
        return await Feed(self.store, self.hub).read(after)

    async def instances(self) -> list[InstanceRecord]:
        """Who works, or worked lately, on this database."""
        return await self.store.instances(round(self.settings.lease * 1_000_000))

    # Working

    def worker(self, *, concurrency: int | None = None, name: str | None = None) -> Worker:
        """A worker for the tasks of this App."""
        settings = self.settings if concurrency is None else load_settings(**self._given(concurrency=concurrency))
        executors: list[Executor] = [AsyncExecutor(), ThreadExecutor(settings.concurrency)]
        return Worker(self.store, self.hub, self.tasks, settings, self._clock, executors, name=name)

    def _given(self, **changes: Any) -> dict[str, Any]:
        return self.settings.model_dump() | changes


class Decorator:
    """What `@app.task(…)` returns; only its types matter."""

    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[SyncContext, P], R], /) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Task[P, R]: ...
    def __call__(self, function: Any, /) -> Any: ...


def _options(given: dict[str, Any]) -> TaskOptions:
    try:
        options = TaskOptions(**given)
    except TypeError as error:
        raise TaskDefinitionError(f"{error}; a task takes {', '.join(TaskOptions.__struct_fields__)}") from error
    try:
        backoff, on_lost = Backoff(options.backoff), OnLost(options.on_lost)
    except ValueError as error:
        raise TaskDefinitionError(
            f"{error}; backoff is one of {', '.join(Backoff)}, on_lost one of {', '.join(OnLost)}"
        ) from error
    if options.timeout is not None and options.timeout <= 0:
        raise TaskDefinitionError("a timeout must be positive; leave it out for none", field="timeout")
    if options.retries < 0 or options.retry_delay < 0:
        raise TaskDefinitionError("retries and retry_delay cannot be negative", field="retries")
    return TaskOptions(**given | {"backoff": backoff, "on_lost": on_lost})


def _id(job: Job[Any] | str) -> str:
    return job if isinstance(job, str) else job.id


def _state(word: str) -> State:
    try:
        return State(word)
    except ValueError:
        raise InvalidInput(f"{word!r} is not a state; use {', '.join(State)}", field="states") from None


__all__ = ["App", "QueueLimits"]
