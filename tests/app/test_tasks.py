"""Functions become tasks: plain, with options, with a context; their arguments keep their types."""

import dataclasses
import datetime as dt
import enum
import threading
import uuid
from typing import Any

import pytest

from hanbeon import App, Context, SyncContext, Task
from hanbeon.testing import TestKit


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Address:
    street: str
    number: int = 1


async def test_a_plain_decorator_keeps_the_function(kit: TestKit) -> None:
    @kit.app.task
    async def add(a: int, b: int = 10) -> int:
        return a + b

    assert isinstance(add, Task)
    assert add.name == "add"
    assert await add.function(1, 2) == 3
    job = await kit.app.enqueue(add.call(1))
    await kit.run_all()
    assert await job.result(20) == 11


async def test_a_call_runs_the_function_and_creates_no_job(kit: TestKit) -> None:
    @kit.app.task
    async def add(a: int, b: int = 10) -> int:
        return a + b

    @kit.app.task
    def double(a: int) -> int:
        return 2 * a

    assert await add(1, b=2) == 3
    assert double(4) == 8
    assert await kit.app.jobs() == []


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("delay", r"write await app\.enqueue\(double\.call\(…\)\)"),
        ("apply_async", r"double\.call\(…\)\).*, with options like delay=60"),
        ("s", r"write double\.call\(…\)$"),
        ("nonsense", "has no 'nonsense'$"),
    ],
)
async def test_names_of_other_libraries_are_answered(kit: TestKit, name: str, remedy: str) -> None:
    @kit.app.task
    def double(a: int) -> int:
        return 2 * a

    with pytest.raises(AttributeError, match=remedy):
        getattr(double, name)


async def test_options_are_the_defaults_of_the_tasks_jobs(kit: TestKit) -> None:
    @kit.app.task(name="mail.send", queue="mail", role="FE", priority=7, timeout=90, retries=5, retry_delay=2.5)
    async def send() -> None: ...

    @kit.app.task(backoff="linear", jitter=0.5, on_lost="fail")
    async def other() -> None: ...

    record = await (await kit.app.enqueue(send)).record()
    assert (record.task, record.queue, record.role, record.priority) == ("mail.send", "mail", "FE", 7)
    assert (record.timeout_us, record.policy.max_retries, record.policy.base_us) == (90_000_000, 5, 2_500_000)
    policy = (await (await kit.app.enqueue(other)).record()).policy
    assert (policy.backoff, policy.jitter, policy.on_lost) == ("linear", 0.5, "fail")

    own = await (await kit.app.enqueue(send, queue="urgent", role="BE", priority=-1, timeout=1.5, retries=0)).record()
    assert (own.queue, own.role, own.priority, own.timeout_us) == ("urgent", "BE", -1, 1_500_000)
    assert own.policy.max_retries == 0


async def test_a_context_is_given_where_it_is_asked_for(kit: TestKit) -> None:
    @kit.app.task
    async def awaited(ctx: Context, word: str) -> list[object]:
        return [word, ctx.job_id, ctx.queue, ctx.role, ctx.attempt, ctx.fence, ctx.retry_count, ctx.stopping]

    @kit.app.task
    def threaded(ctx: SyncContext, word: str) -> list[object]:
        return [word, ctx.job_id, ctx.queue, ctx.role, ctx.attempt, ctx.fence, ctx.retry_count, ctx.stopping]

    one = await kit.app.enqueue(awaited.call("hello"), role="FE", queue="q")
    two = await kit.app.enqueue(threaded.call(word="hello"))
    await kit.run_all()
    assert await one.result(20) == ["hello", one.id, "q", "FE", 1, 1, 0, False]
    assert await two.result(20) == ["hello", two.id, "default", "", 1, 1, 0, False]


async def test_arguments_arrive_with_their_types(kit: TestKit) -> None:
    seen: dict[str, Any] = {}

    @kit.app.task
    async def note(
        address: Address,
        at: dt.datetime,
        day: dt.date,
        colour: Colour,
        key: uuid.UUID,
        numbers: list[int],
        parts: dict[str, Address],
        raw: bytes,
        maybe: int | None = None,
        anything: Any = ("x",),
    ) -> None:
        seen.update(locals())

    at = dt.datetime(2026, 11, 15, 20, 4, tzinfo=dt.timezone(dt.timedelta(hours=9)))
    given = {
        "address": Address("Sejong-daero", 110),
        "at": at,
        "day": dt.date(2026, 2, 28),
        "colour": Colour.RED,
        "key": uuid.UUID(int=5),
        "numbers": [1, 2],
        "parts": {"a": Address("b")},
        "raw": b"\x00\xff",
    }
    job = await kit.app.enqueue(note.call(**given))
    await kit.run_all()
    assert await job.result(20) is None
    assert {name: seen[name] for name in given} == given
    assert seen["maybe"] is None
    assert seen["anything"] == ("x",), "a default stays the function's own"


async def test_changed_default_applies_to_jobs_already_waiting(app: App) -> None:
    """Only given arguments are stored: a rolling deploy may change a default for jobs that wait."""

    @app.task
    async def work(a: int, b: int = 1) -> None: ...

    assert (await (await app.enqueue(work.call(1))).record()).args == '{"a":1}'


async def test_a_name_registered_again_by_the_same_function_is_fine(kit: TestKit) -> None:
    async def work() -> str:
        return "ran"

    kit.app.task(work)
    job = await kit.app.enqueue(kit.app.task(retries=0)(work))
    await kit.run_all()
    assert await job.result(20) == "ran"


async def test_two_apps_do_not_share_tasks(sqlite_url: str) -> None:
    one, two = App(sqlite_url), App(sqlite_url)

    @one.task(name="work")
    async def first() -> None: ...

    @two.task(name="work")
    async def second() -> None: ...

    assert [task.function for task in one.tasks] == [first.function]
    assert two.tasks.names() == ["work"]


@pytest.mark.parametrize("executor", ["thread", None])
async def test_plain_functions_run_in_threads(kit: TestKit, executor: str | None) -> None:
    @kit.app.task(executor=executor)
    def work() -> str:
        return threading.current_thread().name

    job = await kit.app.enqueue(work)
    await kit.run_all()
    assert (await job.result(20)).startswith("hanbeon-task")
