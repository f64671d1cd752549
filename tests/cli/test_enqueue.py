"""`hanbeon enqueue` and `tasks`: jobs by name, with or without the App at hand."""

import asyncio
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from hanbeon import App, Context, State
from hanbeon.cli import new_job
from hanbeon.cli.app_loader import load_app
from hanbeon.settings import masked
from tests.cli.hanbeon import call, start

_APP = """
from hanbeon import App

app = App()

@app.task(queue="mail", retries=1, retry_delay=1, timeout=30)
async def send(to: str, copies: int = 1) -> str:
    return f"{to} {copies}"
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an App in the current folder."""
    (tmp_path / "shop_jobs.py").write_text(_APP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "shop_jobs", raising=False)
    return "shop_jobs:app"


async def test_with_the_app_a_job_has_the_options_of_its_task(app: App, app_url: str, shop: str) -> None:
    place = ("--app", shop, "--database", app_url)
    (job_id,) = (await call("enqueue", "send", "to=12", "copies:=3", *place)).lines
    job = await app.job(job_id).record()
    assert (job.args, job.queue, job.policy.max_retries) == ('{"to":"12","copies":3}', "mail", 1)
    document = (await call("enqueue", "send", '{"to": "a"}', "--queue", "other", "--json", *place)).document
    assert (document["queue"], document["args"], document["created"]) == ("other", {"to": "a"}, True)


async def test_every_option_reaches_the_job(app: App, app_url: str, shop: str) -> None:
    place = ("--app", shop, "--database", app_url, "--json")
    first = (await call("enqueue", "send", "to=a", *place)).document
    flags = (
        *("--role", "R", "--priority", "-3", "--urgent", "--retries", "0", "--timeout", "1m", "--after", first["id"]),
        *("--concurrency-key", "K", "--idempotency-key", "I", "--unique-key", "U", "--work-item", "W"),
        *("--on-dependency-failure", "fail", "--on-conflict", "skip", "--run-at", "2090-01-31T09:00"),
        *("--id", "01890000-0000-7000-8000-000000000001"),
    )
    document = (await call("enqueue", "send", "to=b", *flags, *place)).document
    expected = {
        "id": "01890000-0000-7000-8000-000000000001",
        "role": "R",
        "priority": -3,
        "urgent": True,
        "timeout_ms": 60_000,
        "concurrency_key": "K",
        "idempotency_key": "I",
        "unique_key": "U",
        "work_item": "W",
        "on_dependency_failure": "fail",
        "run_at": "2090-01-31T09:00:00.000+09:00",
        "unmet": 1,
        "state": "pending",
    }
    assert {name: document[name] for name in expected} == expected
    assert document["policy"]["retries"] == 0
    again = await call("enqueue", "send", "to=b", *flags, *place)
    assert (again.code, again.err) == (0, "the job exists already; no other was created\n")
    delayed = (await call("enqueue", "send", "to=c", "--delay", "1h", *place)).document
    assert delayed["state"] == "pending"


async def test_without_the_app_the_task_must_be_one_that_a_worker_has(app: App, app_url: str) -> None:
    app.task(name="보내기")(_send)
    place = ("--database", app_url, "--queue", "mail", "--retries", "0")
    answer = await call("enqueue", "보내기", *place)
    assert (answer.code, answer.out) == (2, "")
    assert "start a worker that has it, or pass --app" in answer.err
    async with app.worker():
        answer = await call("enqueue", "보네기", *place)
        assert (answer.code, answer.out) == (2, "")
        assert "did you mean '보내기'?" in answer.err
        (result,) = (await call("enqueue", "보내기", "to=Ada", "--wait", *place)).lines
        assert result == '"sent to Ada"'
    answer = await call("enqueue", "보내기", "to=Ada", *place)
    assert (answer.code, answer.err) == (
        0,
        "no live worker has registered '보내기'; start one to run the job: "
        f"hanbeon worker --database {shlex.quote(masked(app_url))}\n",
    )
    answer = await call("enqueue", "보내기", "--database", app_url)
    assert (answer.code, answer.out) == (2, "")
    assert "pass --queue and --retries, or --app" in answer.err


async def _send(ctx: Context, to: str = "nobody") -> str:
    await ctx.progress({"to": to})
    return f"sent to {to}"


async def test_wait_tells_of_an_attempt_that_is_tried_again(app: App, app_url: str, shop: str) -> None:
    @app.task
    async def send(ctx: Context, to: str, copies: int = 1) -> str:
        if ctx.attempt == 1:
            raise ValueError("the disk is full")
        return to

    async with app.worker():
        answer = await call("enqueue", "send", "to=Ada", "--wait", "--app", shop, "--database", app_url)
    assert (answer.code, answer.out) == (0, '"Ada"\n')
    (line,) = answer.err.splitlines()
    assert line.startswith("attempt 1 failed: ValueError: the disk is full; it is tried again in ")
    assert f" --log --app {shop} --database " in line
    assert line.endswith("` shows its log")


async def test_waiting_for_a_job_that_does_not_succeed(app: App, app_url: str) -> None:
    @app.task
    async def break_off(how: str) -> None:
        if how == "hang":
            await asyncio.Event().wait()
        raise ValueError("no\x1b[2J")

    place = ("--database", app_url, "--queue", "default", "--retries", "0")
    async with app.worker():
        answer = await call("enqueue", "break_off", "how=fail", "--wait", *place)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.endswith("failed (error): ValueError: no\\x1b[2J\n")
        answer = await call("enqueue", "break_off", "how=fail", "--wait", "--json", *place)
        assert (answer.code, '"state":"failed"' in answer.out) == (1, True)

        waiting = asyncio.create_task(call("enqueue", "break_off", "how=hang", "--wait", *place))
        async for event in app.events():
            if (
                event.type == "claimed"
                and event.attempt == 1
                and await app.job(event.job_id or "").state() is State.RUNNING
            ):
                await app.cancel(event.job_id or "")
                break
        answer = await waiting
        assert (answer.code, "was cancelled" in answer.err) == (1, True)


async def test_wait_warns_if_no_worker_is_alive(app_url: str, tmp_path: Path) -> None:
    (tmp_path / "hanbeon.toml").write_text("[tasks.greet]\ncommand = ['echo', 'hello']\n")
    await App(app_url).migrate()
    with start("enqueue", "greet", "--wait", "--database", app_url, cwd=tmp_path) as waiting:
        try:
            assert waiting.stderr is not None
            line = await asyncio.to_thread(waiting.stderr.readline)
            command = f"hanbeon worker --database {shlex.quote(masked(app_url))}"
            assert line == f"no live worker has registered 'greet'; start one to run the job: {command}\n"
        finally:
            waiting.kill()


async def test_wait_shows_life_and_says_why(app: App, app_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @app.task
    async def greet() -> str:
        return "hello"

    echo, said, loop = typer.echo, asyncio.Event(), asyncio.get_running_loop()

    def spy(message: Any, *, err: bool = False) -> None:
        echo(message, err=err)
        if str(message).startswith("still waiting after "):
            loop.call_soon_threadsafe(said.set)

    monkeypatch.setattr(new_job, "_FIRST_WORD_SECONDS", 0.01)
    monkeypatch.setattr(typer, "echo", spy)
    async with app.worker():
        await app.pause("default")
        place = ("--database", app_url, "--queue", "default", "--retries", "0")
        waiting = asyncio.create_task(call("enqueue", "greet", "--wait", *place))
        await said.wait()
        await app.resume("default")
        answer = await waiting
    assert (answer.code, answer.out) == (0, '"hello"\n')
    assert "Queue 'default' is paused; resume it." in answer.err


async def test_ctrl_c_ends_the_waiting_and_not_the_job(app: App, app_url: str) -> None:
    @app.task
    async def hang() -> None:
        await asyncio.Event().wait()

    async with app.worker():
        options = ("--database", app_url, "--queue", "default", "--retries", "0", "--wait")
        with start("enqueue", "hang", *options) as waiting:
            try:
                async for event in app.events():
                    if event.type == "claimed":
                        break
                waiting.send_signal(signal.SIGINT)
                out, err = await asyncio.to_thread(waiting.communicate, timeout=30)
                assert (waiting.returncode, out) == (130, "")
                cancel = f"hanbeon cancel {event.job_id} --database {shlex.quote(masked(app_url))}"
                assert err == f"job {event.job_id} is not stopped by this; `{cancel}` cancels it\n"
            finally:
                waiting.kill()
        assert await app.job(event.job_id or "").state() is State.RUNNING

        with start("job", event.job_id or "", "--follow", "--database", app_url) as following:
            try:
                assert following.stdout is not None
                assert "running" in await asyncio.to_thread(following.stdout.readline)
                following.send_signal(signal.SIGINT)
                assert await asyncio.to_thread(following.communicate, timeout=30) == ("", "")
                assert following.returncode == 130
            finally:
                following.kill()


async def test_following_a_job_prints_each_change(app: App, app_url: str) -> None:
    @app.task
    async def count(ctx: Context) -> str:
        for step in (1, 2):
            await ctx.progress(step)
            await steps.get()
        return "counted"

    steps: asyncio.Queue[None] = asyncio.Queue()
    async with app.worker():
        job = await app.enqueue(count)
        with start("job", job.id, "--follow", "--database", app_url) as following:
            assert following.stdout is not None
            try:
                seen = ""
                for step in ("1", "2"):
                    while not seen.rstrip().endswith(f"attempt 1  {step}"):
                        seen = await asyncio.to_thread(following.stdout.readline)
                    steps.put_nowait(None)
                rest, err = await asyncio.to_thread(following.communicate, timeout=30)
                assert (following.returncode, err) == (0, "")
                assert rest.endswith('"counted"\n')
            finally:
                following.kill()
    document = (await call("job", job.id, "--follow", "--json", "--database", app_url)).document
    assert (document["state"], document["result"]) == ("succeeded", "counted")


async def test_tasks_of_an_app(shop: str) -> None:
    heading, row = (await call("tasks", "--app", shop)).lines
    assert heading.split()[:3] == ["TASK", "EXECUTOR", "QUEUE"]
    assert row.split()[:3] == ["send", "async", "mail"]
    assert row.endswith("(to: str, copies: int = 1)")
    (task,) = (await call("tasks", "--app", shop, "--json")).document["tasks"]
    assert (task["name"], task["executor"], task["queue"], task["timeout"]) == ("send", "async", "mail", 30.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("send", "copies=3", "to=a"), "name=VALUE is text, name:=VALUE is JSON"),
        (("send", "too=a"), "it takes (to: str, copies: int = 1)"),
        (("sned", "to=a"), "did you mean 'send'?"),
        (("send", "{"), "arguments must be JSON"),
        (("send", "copies:=x", "to=a"), "copies must be JSON, got 'x'"),
        (("send", "a"), "must be name=text, name:=JSON, one JSON object, or - to read that from stdin, got 'a'"),
        (("send", "=a"), "got '=a'"),
        (("send", "to=a", "to=b"), "'to' was given more than once"),
        (("send", "to=a", "--delay", "soon"), "must be a duration like 90s, 15m"),
        (("send", "to=a", "--run-at", "tomorrow"), "must be a time like 2030-01-31T09:00"),
        (("send", "to=a", "--delay", "1s", "--run-at", "2030-01-31"), "must not be combined"),
        (("send", "to=a", "--timeout", "0"), "must be positive"),
        (("send", "to=a", "--after", "x"), "must contain jobs or their ids"),
        (("send", "to=a", "--after", "01890000-0000-7000-8000-000000000000"), "depends_on"),
        (("send", "to=a", "--id", "x"), "must be a UUID in lower case"),
        (("send", "to=a", "--priority", "high"), "--priority"),
        (("send", "to=a", "--on-conflict", "ignore"), "'refuse', 'skip', 'replace_pending'"),
    ],
)
async def test_bad_input(sqlite_url: str, shop: str, arguments: tuple[str, ...], words: str) -> None:
    answer = await call("enqueue", *arguments, "--app", shop, "--database", sqlite_url)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert "Traceback" not in answer.err
    async with App(sqlite_url) as app:
        assert await app.jobs() == []


def test_an_app_may_be_named_by_the_environment(shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANBEON_APP", shop)
    assert [task.name for task in load_app(shop).tasks] == ["send"]
    assert asyncio.run(call("tasks")).code == 0
