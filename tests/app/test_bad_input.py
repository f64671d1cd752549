"""Invalid input is rejected with a typed error that names the field and a remedy, and nothing is written."""

import asyncio
import datetime as dt
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from hanbeon import App, Context, JobRequest, SyncContext
from hanbeon.errors import (
    ArgumentsDoNotFit,
    DependencyCycle,
    HanbeonError,
    InvalidInput,
    JobNotFound,
    NotSerialisable,
    PayloadTooLarge,
    TaskDefinitionError,
    UnknownDependency,
    UnknownTask,
)
from hanbeon.store.operations import events as event_rows
from hanbeon.testing import TestKit
from tests.store.world import World

NEVER_MADE = "01a1e189-eda6-7180-9760-4c3eca0ab9b8"


async def written(kit: TestKit) -> dict[str, int]:
    """Count the rows of everything."""
    world = World(kit.app.store, kit.clock)
    tables = ("job", "edge", "attempt", "event_batch", "lane", "queue")
    counts = {table: await world.count(table) for table in tables}
    return counts | {"last event": await kit.app.store.read(event_rows.last_event_id)}


@asynccontextmanager
async def refused(
    kit: TestKit, kind: type[HanbeonError], field: str | None, message: str
) -> AsyncIterator[list[HanbeonError]]:
    """Check that the block is rejected in this way; afterwards the error is in the list."""
    before = await written(kit)
    errors: list[HanbeonError] = []
    with pytest.raises(kind, match=message) as caught:
        yield errors
    errors.append(caught.value)
    assert type(caught.value) is kind
    assert caught.value.field == field
    if field is not None:
        assert field in str(caught.value)
    assert await written(kit) == before


async def send(to: str, copies: int = 1) -> None:
    """The task of all jobs in this file."""


@pytest.fixture
async def quick(sqlite_url: str) -> AsyncIterator[TestKit]:
    """A kit for input that is rejected before the database is used: one store is enough."""
    app = App()
    app.task(send)
    async with TestKit(app, sqlite_url) as kit:
        yield kit


@pytest.fixture
async def both(kit: TestKit) -> TestKit:
    """A kit on both stores, for input that only the database can reject."""
    kit.app.task(send)
    return kit


def request(kit: TestKit, **options: Any) -> JobRequest[Any]:
    made: JobRequest[Any] = kit.app.tasks.get("send").call(to="a")
    return made.set(**options) if options else made


# Tasks


async def test_an_unknown_task_with_a_near_name(quick: TestKit) -> None:
    async with refused(quick, UnknownTask, "task", "no task 'sned' is registered; did you mean 'send'?"):
        await quick.app.enqueue("sned", {"to": "a"})


async def test_an_unknown_task_with_no_near_name(quick: TestKit) -> None:
    async with refused(quick, UnknownTask, "task", "register it with @app.task or in hanbeon.toml before enqueuing"):
        await quick.app.enqueue("transmogrify")


@pytest.mark.parametrize("task", [send, None, 5, ["send"]])
async def test_rejects_non_task(quick: TestKit, task: Any) -> None:
    async with refused(quick, InvalidInput, "task", r"must be a task, its name, or task.call\(…\), got"):
        await quick.app.enqueue(task, {"to": "a"})


async def test_another_apps_task_of_the_same_name(quick: TestKit) -> None:
    other = App().task(send)
    async with refused(quick, UnknownTask, "task", "'send' belongs to another App; use this one's, or enqueue there"):
        await quick.app.enqueue(other.call(to="a"))


async def test_another_apps_task_of_another_name(quick: TestKit) -> None:
    other = App().task(name="other")(send)
    async with refused(quick, UnknownTask, "task", "no task 'other' is registered"):
        await quick.app.enqueue(other, {"to": "a"})


@pytest.mark.parametrize("requests", [["send"], [None], 5, "send"])
async def test_rejects_invalid_list_of_requests(quick: TestKit, requests: Any) -> None:
    async with refused(quick, InvalidInput, "requests", r"must contain only task.call\(…\)|must be a list of requests"):
        await quick.app.enqueue_many(requests)


async def test_rejects_single_request_as_list(quick: TestKit) -> None:
    async with refused(quick, InvalidInput, "requests", "must be a list of requests"):
        await quick.app.enqueue_many(request(quick))  # type: ignore[arg-type]


# Arguments


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, r"missing a required argument: 'to'; it takes \(to: str, copies: int = 1\)"),
        (None, "missing a required argument: 'to'"),
        ({"to": "a", "cc": "b"}, r"got an unexpected keyword argument 'cc'; it takes \(to: str"),
        ({"to": 5}, r"Expected `str`, got `int` - at `\$.to`; it takes"),
        ({"to": "a", "copies": "many"}, r"Expected `int.*`, got `str` - at `\$.copies`"),
        ({"to": "a", "copies": None}, r"Expected `int.*`, got `null` - at `\$.copies`"),
        (["a"], "must be a mapping"),
        ({1: 2}, "keywords must be strings"),
    ],
)
async def test_rejects_invalid_arguments(quick: TestKit, args: Any, message: str) -> None:
    async with refused(quick, ArgumentsDoNotFit, "args", message):
        await quick.app.enqueue("send", args)


async def test_too_many_arguments_by_position(quick: TestKit) -> None:
    async with refused(quick, ArgumentsDoNotFit, "args", "too many positional arguments; it takes"):
        quick.app.tasks.get("send").call("a", 1, "b")


async def test_arguments_given_twice(quick: TestKit) -> None:
    async with refused(quick, InvalidInput, "args", "must not be given twice"):
        await quick.app.enqueue(request(quick), {"to": "b"})


async def test_arguments_by_keyword(quick: TestKit) -> None:
    async with refused(quick, InvalidInput, "args", "must be passed by position: enqueue"):
        await quick.app.enqueue("send", args={"to": "a"})  # type: ignore[call-overload]
    async with refused(quick, InvalidInput, "args", r"must be passed to task.call\(…\)"):
        request(quick).set(args={"to": "a"})  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "value", [object(), socket.socket, {1j}, "\ud800", {(1, 2): 3}], ids=["object", "type", "set", "text", "key"]
)
async def test_rejects_unserializable_arguments(quick: TestKit, value: Any) -> None:
    @quick.app.task
    async def anything(value: Any) -> None: ...

    async with refused(
        quick, NotSerialisable, "args", "an argument of task 'anything' cannot be encoded as JSON: .* pass"
    ):
        await quick.app.enqueue(anything.call(value))


async def test_rejects_circular_arguments(quick: TestKit) -> None:
    @quick.app.task
    async def anything(value: Any) -> None: ...

    value: list[Any] = []
    value.append(value)
    async with refused(quick, NotSerialisable, "args", "cannot be encoded as JSON"):
        await quick.app.enqueue(anything.call(value))


async def test_a_payload_over_the_limit() -> None:
    app = App(max_payload_bytes=1024)
    app.task(send)
    async with TestKit(app) as kit:
        await app.enqueue("send", {"to": "x" * 1013})
        remedy = "args: must be at most 1,024 bytes, got 1,025; store the data elsewhere and pass a reference, or raise"
        async with refused(kit, PayloadTooLarge, "args", remedy):
            await app.enqueue("send", {"to": "x" * 1016})


# Dependencies


async def test_a_cycle_is_named_by_its_ids(both: TestKit) -> None:
    a, b, c, d = (request(both) for _ in range(4))
    batch = [d, a.set(after=[c, d]), b.set(after=[a]), c.set(after=[b])]
    async with refused(both, DependencyCycle, "depends_on", "remove one of these dependencies") as caught:
        await both.app.enqueue_many(batch)
    (error,) = caught
    assert isinstance(error, DependencyCycle)
    assert set(error.ids) == {a.id, b.id, c.id}
    assert all(job_id in str(error) for job_id in error.ids)


async def test_a_job_that_waits_for_itself(both: TestKit) -> None:
    alone = request(both)
    async with refused(both, InvalidInput, "depends_on", f"must not contain the job's own id {alone.id}"):
        await both.app.enqueue(alone.set(after=[alone]))


async def test_an_unknown_dependency(both: TestKit) -> None:
    async with refused(both, UnknownDependency, "depends_on", f"depends on {NEVER_MADE}, which do not exist"):
        await both.app.enqueue_many([request(both), request(both, after=[NEVER_MADE])])


async def test_a_dependency_in_another_queue(both: TestKit) -> None:
    first = await both.app.enqueue(request(both), queue="a")
    remedy = f"of queue 'b' depends on {first.id} of another queue; dependencies must be in the same queue"
    async with refused(both, UnknownDependency, "depends_on", remedy):
        await both.app.enqueue(request(both), queue="b", after=[first])
    one, two = request(both, queue="a"), request(both, queue="b")
    async with refused(both, UnknownDependency, "depends_on", "dependencies must be in the same queue"):
        await both.app.enqueue_many([one, two.set(after=[one])])


@pytest.mark.parametrize("after", ["not-an-id", NEVER_MADE, 5])
async def test_dependencies_that_are_no_list(quick: TestKit, after: Any) -> None:
    async with refused(quick, InvalidInput, "depends_on", "must be a list of jobs"):
        await quick.app.enqueue(request(quick), after=after)
    async with refused(quick, InvalidInput, "depends_on", "must be a list of jobs"):
        await quick.app.enqueue(request(quick), depends_on=after)


@pytest.mark.parametrize("job", ["not-an-id", None, 5, NEVER_MADE.upper()])
async def test_dependencies_that_are_no_jobs(quick: TestKit, job: Any) -> None:
    async with refused(quick, InvalidInput, "depends_on", "must contain jobs or their ids"):
        await quick.app.enqueue(request(quick), after=[job])


# Options


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("delay", -1, "must not be negative; omit it to run immediately"),
        ("delay", dt.timedelta(seconds=-1), "must not be negative"),
        ("delay", float("nan"), "must be at most a hundred years in seconds"),
        ("delay", float("inf"), "must be at most a hundred years in seconds"),
        ("delay", 1e300, "must be at most a hundred years in seconds"),
        ("delay", dt.timedelta.max, "must be at most a hundred years"),
        ("delay", "5", "must be a number or a timedelta"),
        ("delay", True, "must be a number"),
        ("run_at", "2026-11-15", "must be a datetime"),
        ("run_at", 1_700_000_000, "must be a datetime"),
        ("run_at", dt.date(2026, 11, 15), "must be a datetime"),
        ("run_at", dt.datetime.min.replace(tzinfo=dt.UTC), "must be an instant in the years"),
        ("priority", 2**31, "must be an integer from -2147483648 to 2147483647, got 2147483648; lower runs first"),
        ("priority", -(2**31) - 1, "must be an integer from"),
        ("priority", "high", "must be an integer"),
        ("priority", 1.5, "must be an integer"),
        ("priority", True, "must be an integer"),
        ("urgent", "yes", "must be True or False"),
        ("urgent", None, "must be True or False"),
        ("timeout", 0, "must be positive; omit it for no timeout"),
        ("timeout", -5, "must be positive; omit it for no timeout"),
        ("timeout", float("nan"), "must be at most a hundred years in seconds"),
        ("timeout", 1e-9, "must be positive"),
        ("timeout", "30", "must be a number"),
        ("retries", -1, "must be an integer from 0"),
        ("retries", 2**31, "must be an integer from 0"),
        ("retries", 1.5, "must be an integer"),
        ("queue", "", "must not be empty"),
        ("queue", "q" * 201, "must be at most 200 characters, got 201"),
        ("queue", "a\x00b", "must not contain a NUL character"),
        ("queue", "a\ud800b", "half of a surrogate pair"),
        ("queue", 5, "must be text"),
        ("role", "r" * 201, "must be at most 200 characters"),
        ("role", "\x00", "must not contain a NUL character"),
        ("concurrency_key", None, "must be text"),
        ("concurrency_key", "\x00", "must not contain a NUL character"),
        ("idempotency_key", "k" * 201, "must be at most 200 characters"),
        ("idempotency_key", 5, "must be text"),
        ("unique_key", "a\x00", "must not contain a NUL character"),
        ("work_item", "w" * 201, "must be at most 200 characters"),
        ("id", "not-a-uuid", "must be a UUID in lower case, got 'not-a-uuid'"),
        ("id", NEVER_MADE.upper(), "must be a UUID in lower case"),
        ("id", 5, "must be text"),
        ("on_conflict", "overwrite", "must be one of refuse, skip, replace_pending, got 'overwrite'"),
        ("on_dependency_failure", "panic", "must be one of block, fail, got 'panic'"),
        ("on_conflict", 5, "must be text"),
    ],
)
async def test_rejects_invalid_options(quick: TestKit, field: str, value: Any, message: str) -> None:
    async with refused(quick, InvalidInput, field, message):
        await quick.app.enqueue(request(quick), **{field: value})


async def test_delay_and_run_at_together(quick: TestKit) -> None:
    async with refused(quick, InvalidInput, "run_at", "must not be combined with delay"):
        await quick.app.enqueue(request(quick), delay=5, run_at=dt.datetime(2030, 1, 1, tzinfo=dt.UTC))


async def test_an_unknown_option_with_a_near_name(quick: TestKit) -> None:
    remedy = r"a job has no such option; did you mean 'priority'\? There are concurrency_key, delay, depends_on"
    async with refused(quick, InvalidInput, "prioriti", remedy):
        await quick.app.enqueue(request(quick), prioriti=5)  # type: ignore[call-overload]


@pytest.mark.parametrize("field", ["task", "nonsense"])
async def test_an_unknown_option(quick: TestKit, field: str) -> None:
    async with refused(quick, InvalidInput, field, "a job has no such option.* There are concurrency_key, delay"):
        await quick.app.enqueue(request(quick), **cast(Any, {field: "x"}))


async def test_the_same_id_twice_in_a_batch(both: TestKit) -> None:
    one = request(both)
    async with refused(both, InvalidInput, "id", f"must be unique in a batch, got '{one.id}' more than once"):
        await both.app.enqueue_many([one, one])


@pytest.mark.parametrize("field", ["idempotency_key", "unique_key"])
async def test_the_same_key_twice_in_a_batch(both: TestKit, field: str) -> None:
    async with refused(both, InvalidInput, field, "must be unique in a batch, got 'k' more than once"):
        await both.app.enqueue_many([request(both, **{field: "k"}), request(both, **{field: "k"})])


# Calls on jobs and queues


@pytest.mark.parametrize("job", ["not-a-uuid", "", "\x00", NEVER_MADE])
async def test_ids_of_no_job(both: TestKit, job: str) -> None:
    app, shown = both.app, job.replace("\x00", r"\\x00")
    uses: list[Callable[[], Any]] = [
        lambda: app.cancel(job),
        lambda: app.retry(job),
        lambda: app.reprioritise(job, urgent=True),
        lambda: app.job(job).record(),
        lambda: app.job(job).wait(1),
        lambda: app.job(job).attempts(),
        lambda: app.job(job).blocked_by(),
    ]
    for use in uses:
        async with refused(both, JobNotFound, None, f"no job has the id {shown}; it may have been pruned"):
            await use()


@pytest.mark.parametrize("job", [None, 5, send])
async def test_rejects_non_job(quick: TestKit, job: Any) -> None:
    for use in (quick.app.cancel, quick.app.retry):
        async with refused(quick, InvalidInput, "job", "must be a job or its id, got"):
            await use(job)


async def test_an_unknown_state_in_a_filter(quick: TestKit) -> None:
    remedy = "must be one of pending, ready, running, succeeded, failed, cancelled, got 'done'"
    for use in (quick.app.jobs, quick.app.cancel_where):
        async with refused(quick, InvalidInput, "states", remedy):
            await use(states=["ready", "done"])
        async with refused(quick, InvalidInput, "states", "must be one of"):
            await use(states="ready")


@pytest.mark.parametrize(
    ("field", "value"),
    [("limit", 0), ("limit", -1), ("limit", 10_001), ("limit", "5"), ("after", -1), ("after", 2**63), ("after", None)],
)
async def test_rejects_invalid_pages(quick: TestKit, field: str, value: Any) -> None:
    async with refused(quick, InvalidInput, field, "must be an integer from [01] to"):
        await quick.app.jobs(**{field: value})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("priority", 2**31, "must be an integer from -2147483648 to 2147483647"),
        ("priority", "high", "must be an integer from"),
        ("priority", True, "must be an integer from"),
        ("urgent", "yes", "must be True or False, got 'yes'"),
    ],
)
async def test_rejects_invalid_priorities(quick: TestKit, field: str, value: Any, message: str) -> None:
    job = await quick.app.enqueue(request(quick))
    async with refused(quick, InvalidInput, field, message):
        await quick.app.reprioritise(job, **{field: value})


async def test_a_reprioritisation_that_changes_nothing(quick: TestKit) -> None:
    job = await quick.app.enqueue(request(quick))
    async with refused(quick, InvalidInput, "priority", "is required unless urgent is given"):
        await quick.app.reprioritise(job)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("max_concurrent", -1, "must be an integer from 0 to 2147483647, got -1"),
        ("max_concurrent", "3", "must be an integer from 0 to 2147483647, got '3'"),
        ("max_concurrent", 2**31, "must be an integer from 0"),
        ("max_per_key", 1.5, "must be an integer from 0 to 2147483647, got 1.5"),
        ("roles.FE", {"FE": -1}, "must be an integer from 0"),
        ("roles.FE", {"FE": None}, "must be an integer from 0"),
        ("roles", {"": 1}, "must not be empty"),
        ("roles", {"\x00": 1}, "must not contain a NUL character"),
        ("roles", "FE", "must be a mapping of names to integers, got 'FE'"),
        ("keys", ["k"], "must be a mapping of names to integers"),
    ],
)
async def test_rejects_invalid_limits(quick: TestKit, field: str, value: Any, message: str) -> None:
    async with refused(quick, InvalidInput, field, message):
        await quick.app.configure_queue("new", **{field.partition(".")[0]: value})


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "must not be empty"), ("q" * 201, "at most 200 characters"), ("a\x00", "must not contain a NUL")],
)
async def test_rejects_invalid_queue_names(both: TestKit, name: str, message: str) -> None:
    for use in (both.app.configure_queue, both.app.pause, both.app.resume):
        async with refused(both, InvalidInput, "queue", message):
            await use(name)


# Settings


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("HANBEON_LEASE", "abc", "lease: must be a number above 0 and at most .*, got 'abc' .HANBEON_LEASE"),
        ("HANBEON_LEASE", "0", "lease: must be a number above 0 .*, got '0' .HANBEON_LEASE"),
        ("HANBEON_LEASE", "inf", "lease: must be a number above 0 .*, got 'inf'"),
        ("HANBEON_RETENTION", "1e300", "retention: must be a number above 0 and at most"),
        ("HANBEON_CONCURRENCY", "1.5", "concurrency: must be an integer from 1 to 10000"),
        ("HANBEON_CONCURRENCY", "0", "concurrency: must be an integer from 1 to 10000"),
        (
            "HANBEON_TIMEZONE",
            "Mars/Olympus",
            "timezone: must be an IANA time zone, got 'Mars/Olympus'; use a name like Asia/Seoul",
        ),
        ("HANBEON_TIMEZONE", "../etc/passwd", "timezone: must be an IANA time zone"),
        ("HANBEON_TIMEZONE", "localtime", "timezone: must be an IANA time zone, got 'localtime'.*HANBEON_TIMEZONE"),
        (
            "HANBEON_TIMEZONE",
            "Asia/Soul",
            "timezone: .* got 'Asia/Soul'; did you mean Asia/Seoul",
        ),
        ("HANBEON_MAX_PAYLOAD_BYTES", "10", "max_payload_bytes: must be an integer of at least 1024"),
    ],
)
def test_rejects_invalid_settings(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidInput, match=message) as caught:
        App()
    assert caught.value.field == variable.removeprefix("HANBEON_").lower()
    monkeypatch.delenv(variable)
    with pytest.raises(InvalidInput, match=message):
        App(None, clock=None, **cast(Any, {variable.removeprefix("HANBEON_").lower(): value}))


def test_an_unknown_setting() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"leese: an App has no such option; did you mean 'lease'\? There are asgi_worker, capture_output, chain_",
    ):
        App(leese=5)  # type: ignore[call-arg]


async def test_a_worker_without_room(quick: TestKit) -> None:
    async with refused(quick, InvalidInput, "concurrency", "an integer from 1 to 10000, got 0"):
        quick.app.worker(concurrency=0)


# Definitions


def takes_any(*args: int) -> None: ...
def takes_named(**kwargs: int) -> None: ...
def takes_by_position(a: int, /) -> None: ...
async def takes_what_cannot_travel(a: "int | socket.socket | asyncio.Lock") -> None: ...
async def unresolved(a: "NoSuchName") -> None: ...  # type: ignore[name-defined]  # noqa: F821
async def unresolved_part(a: "dt.NoSuchName") -> None: ...  # type: ignore[name-defined]
async def unreadable(a: "list[") -> None: ...  # type: ignore[valid-type]  # noqa: F722
async def wrong_context(ctx: SyncContext) -> None: ...
def wrong_context_too(ctx: Context) -> None: ...
def generates() -> Any:
    yield 1


async def generates_too() -> Any:
    yield 1


class Shop:
    def sell(self, item: str) -> None: ...
    @classmethod
    def close(cls) -> None: ...


def plain() -> None: ...
async def awaited() -> None: ...
def _inner() -> Any:
    def inner() -> None: ...

    return inner


@pytest.mark.parametrize(
    ("function", "options", "field", "message"),
    [
        (takes_any, {}, None, r"takes \*args; name each parameter"),
        (takes_named, {}, None, r"takes \*\*kwargs; name each parameter"),
        (takes_by_position, {}, None, "takes a positional-only parameter; name each parameter"),
        (takes_what_cannot_travel, {}, None, "a parameter's type cannot travel as JSON: .* use plain data types"),
        (unresolved, {}, None, "an annotation cannot be resolved: .*NoSuchName.*; import that name at run time"),
        (unresolved_part, {}, None, "an annotation cannot be resolved: .*NoSuchName"),
        (unreadable, {}, None, "an annotation cannot be resolved"),
        (wrong_context, {}, None, "is async, so its first parameter must be a Context, not a SyncContext"),
        (wrong_context_too, {}, None, "is not async, so its first parameter must be a SyncContext"),
        (Shop.sell, {}, None, "Shop.sell is a method, and a job has no self; register a function"),
        (Shop.close.__func__, {}, None, "Shop.close is a method, and a job has no cls"),  # type: ignore[attr-defined]
        (generates, {}, "task", "yields; a task returns its result once"),
        (generates_too, {}, "task", "yields; a task returns its result once"),
        (lambda: None, {"timeout": 5}, "executor", "Move it to the top level of its module, or use executor="),
        (lambda: None, {"executor": "process"}, "executor", "<lambda> has none there. Move it to the top level"),
        (_inner(), {"memory": "1GB"}, "executor", "<locals>.inner has none there. Move it to the top level"),
        (plain, {"memory": "1 GB", "executor": "thread"}, "memory", "only a process can be limited"),
        (awaited, {"memory": "1GB"}, "memory", "only a process can be limited"),
        (plain, {"memory": "much"}, "memory", "must be bytes, or text like '512MB'"),
        (plain, {"memory": 1_000}, "memory", "must be at least 64 MiB"),
        (
            plain,
            {"executor": "async"},
            "executor",
            "is a plain function and cannot run in 'async'; use thread or process",
        ),
        (awaited, {"executor": "thread"}, "executor", "is async and cannot run in 'thread'; use async"),
        (awaited, {"executor": "rocket"}, "executor", "cannot run in 'rocket'; use async"),
        (awaited, {"retries": -1}, "retries", "must be an integer from 0"),
        (awaited, {"retries": "3"}, "retries", "must be an integer"),
        (awaited, {"retry_delay": -1}, "retry_delay", "must not be negative; use 0 to retry immediately"),
        (awaited, {"retry_delay": float("nan")}, "retry_delay", "must be at most a hundred years in seconds"),
        (awaited, {"timeout": 0}, "timeout", "must be positive; omit it for no timeout"),
        (awaited, {"timeout": -1}, "timeout", "must be positive; omit it for no timeout"),
        (awaited, {"timeout": float("inf")}, "timeout", "must be at most a hundred years in seconds"),
        (awaited, {"jitter": 2}, "jitter", "must be from 0 to 1, the share by which a delay may grow"),
        (awaited, {"backoff": "random"}, "backoff", "must be one of exponential, linear, got 'random'"),
        (awaited, {"on_lost": 5}, "on_lost", "must be one of retry, fail, got 5"),
        (awaited, {"queue": ""}, "queue", "must not be empty"),
        (awaited, {"queue": "a\x00"}, "queue", "must not contain a NUL character"),
        (awaited, {"role": 5}, "role", "must be text"),
        (awaited, {"priority": 2**31}, "priority", "must be an integer from"),
        (awaited, {"retires": 3}, "retires", r"a task has no such option; did you mean 'retries'\? There are backoff"),
        (awaited, {"name": ""}, "task", "must not be empty"),
        (awaited, {"name": "n" * 201}, "task", "must be at most 200 characters, got 201"),
        (awaited, {"name": "a\x00"}, "task", "must not contain a NUL character"),
        (awaited, {"name": 5}, "name", "must be a string, got 5"),
    ],
)
def test_rejects_invalid_task_definitions(
    function: Any, options: dict[str, Any], field: str | None, message: str
) -> None:
    app = App()
    with pytest.raises(TaskDefinitionError, match=message) as caught:
        app.task(**options)(function)
    assert caught.value.field == field
    assert app.tasks.names() == []


@pytest.mark.parametrize("function", [5, "send", App, len])
def test_rejects_non_function_as_task(function: Any) -> None:
    for decorator in (App().task, App().task(retries=1)):
        with pytest.raises(TaskDefinitionError, match=r"@app\.task decorates a function; pass options by name"):
            decorator(function)


def test_a_name_that_another_function_has() -> None:
    app = App()
    app.task(send)
    with pytest.raises(
        TaskDefinitionError, match=r"task 'send' is registered already, by .*\.send; give .*\.plain a name"
    ):
        app.task(name="send")(plain)
    assert [task.function for task in app.tasks] == [send]
