# ruff: noqa: E501 - a row is a line.
"""Mistakes of a first day: each is refused with the field, the rule, the value and a remedy, and none is silent.

A row is what was done and the words that must be in the answer. Naive times, method tasks, blocking bodies and newer
schemas have tests beside their features.
"""

from __future__ import annotations

import datetime as dt
import gc
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hanbeon import App, SyncApp
from tests.cli.hanbeon import call
from tests.server.client import Client, serving


class Shop(NamedTuple):
    """An open App and a task of it, without types: a checker would find most of these mistakes before they are run."""

    app: Any
    add: Any
    declared: App


@pytest.fixture
async def shop(sqlite_url: str) -> AsyncIterator[Shop]:
    app = App(sqlite_url)

    @app.task
    async def add(a: int, b: int = 1) -> int:
        return a + b

    async with app:
        yield Shop(app, add, app)


def _task(**options: Any) -> Callable[[Shop], None]:
    def act(shop: Shop) -> None:
        shop.app.task(name="other", **options)(_plain)

    return act


def _enqueue(**options: Any) -> Callable[[Shop], Awaitable[object]]:
    return lambda shop: shop.app.enqueue(shop.add.call(1), **options)


def _schedule(**fields: Any) -> Callable[[Shop], Awaitable[object]]:
    return lambda shop: shop.app.schedules.create("add", name="x", args={"a": 1}, **fields)


def _generator(shop: Shop) -> None:
    @shop.declared.task
    def count() -> Iterator[int]:
        yield 1


def _nested(shop: Shop) -> None:
    @shop.declared.task(timeout=5)
    def crunch() -> None: ...


def _duplicate(shop: Shop) -> None:
    @shop.declared.task(name="add")
    def other() -> None: ...


async def _enqueue_text(shop: Shop) -> None:
    @shop.declared.task
    async def read(text: str) -> None: ...

    await shop.app.enqueue(read.call("x" * 2_000_000))


async def _cycle(shop: Shop) -> None:
    first = shop.add.call(1)
    second = shop.add.call(2).set(after=[first])
    await shop.app.enqueue_many([first.set(after=[second]), second])


async def _unknown_dependency(shop: Shop) -> None:
    await shop.app.enqueue(shop.add.call(1), after=["01890000-0000-7000-8000-000000000000"])


_PYTHON: dict[str, tuple[Callable[[Shop], Any], str]] = {
    "another database": (
        lambda shop: App("mysql://x/y").open(),
        r"^database_url: must be sqlite:///jobs.db or postgresql://…, got 'mysql'$",
    ),
    "two slashes": (lambda shop: App("sqlite://e.db").open(), r"^database_url: must name a file.*got 'sqlite://e.db'$"),
    "a setting mistyped": (
        lambda shop: App("sqlite:///e.db", concurency=4),  # type: ignore[call-arg]
        r"^concurency: an App has no such option; did you mean 'concurrency'\? There are ",
    ),
    "a setting of another type": (
        lambda shop: App("sqlite:///e.db", concurrency="many"),  # type: ignore[arg-type]
        r"^concurrency: must be an integer from 1 to \d+, got 'many'",
    ),
    "an App that is not open": (lambda shop: _on_closed(), r"not open"),
    "a blocking App on an event loop": (lambda shop: _sync_in_loop(), r"event loop"),
    "an option mistyped": (
        _task(retires=3),
        r"^retires: a task has no such option; did you mean 'retries'\? There are",
    ),
    "a span in words": (_task(timeout="5 minutes"), r"^timeout: must be a duration like 90s, .*got '5 minutes'"),
    "a number in words": (_task(retries="three"), r"^retries: must be an integer, got 'three'"),
    "a number below all": (_task(retries=-1), r"^retries: must be an integer from 0 \(none\) to \d+, got -1"),
    "a rate limit": (
        _task(rate_limit="10/m"),
        r"^rate_limit: .*there are no rate limits; .*max_concurrent of the queue",
    ),
    "a callback": (_task(link_error=print), r"^link_error: .*there are no callbacks; enqueue a job with after=\[job\]"),
    "exceptions as of Celery": (_task(autoretry_for=(OSError,)), r"^autoretry_for: .*did you mean 'retry_on'\?"),
    "retries as of Celery": (_task(max_retries=3), r"^max_retries: .*did you mean 'retries'\?"),
    "a limit as of Celery": (_task(time_limit=3), r"^time_limit: .*did you mean 'timeout'\?"),
    "no result as of Celery": (_task(ignore_result=True), r"^ignore_result: .*did you mean 'keep_result'\?"),
    "a context as of Celery": (_task(bind=True), r"^bind: .*a parameter with the annotation hanbeon.Context"),
    "acknowledging as of Celery": (_task(acks_late=True), r"^acks_late: .*until its end is written; on_lost="),
    "a timeout as of RQ": (_task(job_timeout=3), r"^job_timeout: .*did you mean 'timeout'\?"),
    "a queue as of Dramatiq": (_task(queue_name="x"), r"^queue_name: .*did you mean 'queue'\?"),
    "a schedule as of Huey": (_task(crontab="* * * * *"), r"^crontab: .*write app\.schedule\(name, task, cron=…\)"),
    "a fire as of APScheduler": (_task(misfire_grace_time=3), r"^misfire_grace_time: .*set misfire and overlap of it"),
    "a lock as of Procrastinate": (
        _task(queueing_lock="x"),
        r"^queueing_lock: .*pass unique_key=… or concurrency_key=…",
    ),
    "a time of a task": (_task(eta=3), r"^eta: .*pass delay=60 or run_at=… to enqueue"),
    "a delay as of Celery": (_enqueue(countdown=5), r"^countdown: a job has no such option; did you mean 'delay'\?"),
    "a time as of Celery": (_enqueue(eta=5), r"^eta: .*did you mean 'run_at'\?"),
    "a job's option mistyped": (_enqueue(prioriy=3), r"^prioriy: .*did you mean 'priority'\?"),
    "a delay in words": (_enqueue(delay="soon"), r"^delay: must be a number or a timedelta or None, got 'soon'"),
    "a moment without a zone": (_enqueue(run_at=dt.datetime(2030, 1, 1)), r"^run_at: .*timezone"),
    "delay() as of Celery": (
        lambda shop: shop.add.delay(1),
        r"^a task has no 'delay'; write await app\.enqueue\(add\.call",
    ),
    "arguments by position": (
        lambda shop: shop.app.enqueue(shop.add, 1),
        r'^args: must be a mapping like \{"name": value\}; to pass them by position write add\.call\(…\), got 1$',
    ),
    "a task that was called": (
        lambda shop: shop.app.enqueue(shop.add(1)),
        r"^task: was called, which runs its function here; write enqueue\(add\.call\(…\)\)",
    ),
    "no task": (
        lambda shop: shop.app.enqueue(print),
        r"^task: must be a task, its name, or task\.call\(…\), got <built-in",
    ),
    "a task mistyped": (
        lambda shop: shop.app.enqueue("ad"),
        r"^task: no task 'ad' is registered; did you mean 'add'\?$",
    ),
    "a missing argument": (
        lambda shop: shop.add.call(),
        r"missing a required argument: 'a'; it takes \(a: ",
    ),
    "an argument of another type": (
        lambda shop: shop.add.call("x"),
        r"Expected `int`, got `str` - at `\$\.a`; it takes",
    ),
    "an argument that is no data": (lambda shop: shop.add.call(object()), r"^args: .*object"),
    "an argument too large": (_enqueue_text, r"^args: .*store .* elsewhere.*HANBEON_MAX_PAYLOAD_BYTES"),
    "a generator": (_generator, r"task 'count' yields; a task returns its result once"),
    "a function that no process finds": (
        _nested,
        r"^executor: task 'crunch' runs in a process.*Move it to the top level",
    ),
    "two tasks of one name": (_duplicate, r"task 'add' .*twice|already|'add'"),
    "a cycle": (_cycle, r"^depends_on: these jobs wait for each other: .* → .*; remove one of these dependencies"),
    "a dependency that is not there": (_unknown_dependency, r"01890000-0000-7000-8000-000000000000"),
    "an hour of 25": (_schedule(cron="0 25 * * *"), r"^cron: hour must be 0–23, for example 9, .*got '25'"),
    "four fields of cron": (_schedule(cron="0 2 * *"), r"^cron: .*fields.*got '0 2 \* \*'|^cron: .*5"),
    "a step that is too long": (
        _schedule(cron="*/90 * * * *"),
        r"^cron: minute must be 0–59, .*got '\*/90': a step of 90 .*; for an interval write every, .*\"90m\"",
    ),
    "an interval as cron": (
        _schedule(cron="@every 90m"),
        r"^cron: .*got '@every 90m'; for an interval write every, which",
    ),
    "a zone of another world": (
        _schedule(cron="@daily", timezone="Mars/X"),
        r"^timezone: must be an IANA .*'Mars/X'; use",
    ),
    "a schedule without a time": (_schedule(), r"^cron: must be given, for example "),
    "a field mistyped": (_schedule(crn="@daily"), r"^crn: unknown field; did you mean 'cron'\?"),
    "a server that is not there": (
        lambda shop: App("postgresql://ada:secret@127.0.0.1:1/x").open(),
        r"^PostgreSQL at 127\.0\.0\.1:1 does not respond: .*; check that it is running",
    ),
}


async def _on_closed() -> None:
    app = App("sqlite:///e.db")
    app.task(name="add")(_plain)
    await app.enqueue("add")


def _plain() -> None: ...


async def _sync_in_loop() -> None:
    app = App("sqlite:///e.db")
    app.task(name="add")(_plain)
    SyncApp(app).enqueue("add")


@pytest.mark.parametrize("mistake", _PYTHON)
async def test_mistakes_in_python(mistake: str, shop: Shop) -> None:
    act, words = _PYTHON[mistake]

    async def run() -> None:
        answer = act(shop)
        if isinstance(answer, Awaitable):
            await answer

    with pytest.raises(Exception, match=words) as refused:
        await run()
    assert "ada:" not in str(refused.value)
    assert (await shop.app.engine.jobs()).items == [], "nothing is half-written"


@pytest.mark.filterwarnings("always")
async def test_forgotten_await_is_named(shop: Shop, recwarn: pytest.WarningsRecorder) -> None:
    """By Python itself: the attribute that is missing is one of a coroutine, and the warning names the method."""
    job: Any = shop.app.enqueue(shop.add.call(1))
    with pytest.raises(AttributeError, match="'coroutine' object has no attribute 'id'"):
        _ = job.id
    del job
    gc.collect()
    assert any("coroutine 'App.enqueue' was never awaited" in str(each.message) for each in recwarn)


_ADD = 'from hanbeon import App\napp = App("sqlite:///jobs.db")\n@app.task\nasync def add(a: int) -> int: return a\n'
_COMMANDS: dict[str, tuple[int, str]] = {
    "wrker": (2, r"No such command 'wrker'\. Did you mean 'worker'"),
    "worker": (2, r"^error: app: there are no tasks; pass --app module:name, or write a hanbeon\.toml"),
    "worker --app shop": (2, r"^error: app: must be module:name, for example shop\.jobs:app, got 'shop'"),
    "worker --app no_such:app": (2, r"^error: app: there is no module 'no_such'; start in the folder"),
    "worker --app mistakes:ap": (2, r"^error: app: must name an App, got 'ap' in mistakes; the module has app"),
    "jobs": (3, r"^error: there is no file hanbeon\.db; check --database, HANBEON_DATABASE_URL or hanbeon\.toml"),
    "jobs --database mysql://x": (2, r"^error: database_url: must be .*got 'mysql'"),
    "verify --database sqlite:///mistakes.py": (5, r"not a valid SQLite database"),
    "job nope --app mistakes:app": (
        2,
        r"^error: id: must be the id of a job as `hanbeon jobs --app mistakes:app` prints it.*'nope'",
    ),
    "jobs --state done --app mistakes:app": (2, r"Invalid value for '--state': 'done' is not one of 'pending'"),
    "jobs --limit 0 --app mistakes:app": (2, r"^error: limit: must be an integer from 1 to \d+, got 0"),
    "enqueue add a --app mistakes:app": (2, r"^error: args: must be name=text, name:=JSON, .*got 'a'"),
    "enqueue add a=1 --app mistakes:app": (2, r"got `str`.*:="),
    "enqueue ad a:=1 --app mistakes:app": (2, r"^error: task: no task 'ad' is registered; did you mean 'add'\?"),
    "enqueue add a:=1 --timeout soon --app mistakes:app": (
        2,
        r"^error: timeout: must be a duration like 90s, .*'soon'",
    ),
    "pause nope --app mistakes:app": (3, r"there is no queue 'nope'; its first job creates it"),
    "jobs --server nonsense": (2, r"^error: server: must be an address like http://127\.0\.0\.1:8000"),
    "jobs --server http://127.0.0.1:1": (5, r"^error: http://127\.0\.0\.1:1 does not respond: .*; check --server"),
    "jobs --server http://x --database sqlite:///x.db": (2, r"^error: server: pass --server or --database, not both"),
    "token create --user a --scope root --app mistakes:app": (2, r"'root' is not one of 'admin'"),
}


@pytest.fixture
async def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mistakes.py").write_text(_ADD)
    await App(f"sqlite:///{tmp_path}/jobs.db").migrate()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.mark.parametrize("command", _COMMANDS)
async def test_mistakes_on_the_command_line(command: str, folder: Path) -> None:
    code, words = _COMMANDS[command]
    answer = await call(*command.split())
    assert (answer.code, answer.out) == (code, "")
    assert re.search(words, answer.err, re.MULTILINE), answer.err
    assert "Traceback" not in answer.err


async def test_taken_port_is_named(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = await call("serve", "--app", "mistakes:app", "--port", str(port))
    assert answer.code == 5
    assert f"port {port}" in answer.err
    assert "--port" in answer.err


_TASK = '[tasks.x]\ncommand = ["true"]\n'
_FILES: dict[str, str] = {
    "nonsense": r"line 1, column 9",
    '[tasks.x]\ncomand = ["a"]': r"tasks\.x: must have command, .*did you mean 'command'\? \(line 1\)",
    '[task.x]\ncommand = ["a"]': r"task: unknown section; did you mean 'tasks'\? \(line 1\)",
    '[tasks.x]\ncommand = "tar -x a"': r'must be a list, since no shell reads it; write \["tar", "-x", "a"\] \(line 2\)',
    '[tasks.x]\ncommand = ["no-such-program"]': r"'no-such-program' is not on the PATH; install it, .*\(line 2\)",
    '[tasks.x]\ncommand = ["echo", "{name}"]': r"unknown placeholder \{name\}; did you mean \{args\.name\}\?.*\(line 2\)",
    _TASK + 'timeout = "5 minutes"': r"tasks\.x\.timeout: must be a duration like .*got '5 minutes' \(line 3\)",
    _TASK + 'rate_limit = "10/m"': r"tasks\.x\.rate_limit: .*there are no rate limits; .*\(line 3\)",
    '[queues.a]\nrate_limit = "10/m"': r"queues\.a\.rate_limit: .*there are no rate limits; .*\(line 2\)",
    _TASK + '[schedules.n]\ntask = "x"\ncron = "0 25 * * *"': r"schedules\.n\.cron: hour must be 0–23, .*\(line 5\)",
    '[schedules.n]\ntask = "y"\ncron = "@daily"': r"schedules\.n\.task: there is no task 'y'; pass --app .*\(line 2\)",
    '[settings]\nconcurrency = "many"': r"settings\.concurrency: must be an integer, got 'many' \(line 2\)",
    "[settings]\nconcurency = 4": r"settings\.concurency: .*did you mean 'concurrency'\?.*\(line 2\)",
    '[secrets]\nA = { env = "NO_SUCH_VARIABLE" }': r"the secret A cannot be read: the variable NO_SUCH_VARIABLE is not set",
}


@pytest.mark.parametrize("text", _FILES)
async def test_mistakes_in_a_file(text: str, folder: Path) -> None:
    (folder / "hanbeon.toml").write_text(text)
    answer = await call("config", "check")
    assert answer.code != 0
    assert re.search(_FILES[text], answer.err), answer.err


_VARIABLES: dict[str, str] = {
    "HANBEON_CONCURRENCY=many": r"^error: concurrency: must be an integer from 1 to \d+, got 'many' \(HANBEON_CONCURRENCY\)",
    "HANBEON_LEASE=5 minutes": r"^error: lease: must be a .*got '5 minutes' \(HANBEON_LEASE\)",
    "HANBEON_TIMEZONE=Mars/X": r"^error: timezone: must be an IANA .*got 'Mars/X'; use .*\(HANBEON_TIMEZONE\)",
    "HANBEON_PORT=99999": r"^error: port: must be an integer from 0 to 65535, got '99999' \(HANBEON_PORT\)",
    "HANBEON_CONCURENCY=4": r"HANBEON_CONCURENCY: unknown setting; did you mean HANBEON_CONCURRENCY\?",
    "HANBEON_CONFIG=nope.toml": r"^error: there is no file nope\.toml; check --config or HANBEON_CONFIG",
    "HANBEON_DATABASE_URL=postgres": r"^error: database_url: must be sqlite:///jobs\.db or postgresql://…, got 'postgres'",
}


@pytest.mark.parametrize("variable", _VARIABLES)
async def test_mistakes_in_the_environment(variable: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(*variable.split("=", 1))
    answer = await call("config", "check")
    assert answer.code != 0
    assert re.search(_VARIABLES[variable], answer.err, re.MULTILINE), answer.err


_REQUESTS: dict[str, tuple[str, str, Any, int, str]] = {
    "no JSON": ("POST", "/api/engine/jobs", b"{", 422, r"JSON"),
    "a field mistyped": (
        "POST",
        "/api/engine/jobs",
        {"task": "add", "arg": {}},
        422,
        r"arg: unknown field; did you mean 'args'",
    ),
    "a missing field": ("POST", "/api/engine/jobs", {}, 422, r"task"),
    "a task mistyped": (
        "POST",
        "/api/engine/jobs",
        {"task": "ad"},
        422,
        r"^task: there is no task 'ad'; did you mean 'add'",
    ),
    "another type": (
        "POST",
        "/api/engine/jobs",
        {"task": "add", "args": {"a": "x"}},
        422,
        r"Expected `int`, got `str`",
    ),
    "a state mistyped": ("GET", "/api/engine/jobs?state=done", None, 422, r"state: must be .*got 'done'"),
    "a path mistyped": ("GET", "/api/engine/job", None, 404, r"^see /docs for all paths$"),
    "no such job": ("GET", "/api/engine/jobs/01890000-0000-7000-8000-000000000000", None, 404, r"01890000"),
}


@pytest.fixture
async def client(shop: Shop) -> AsyncIterator[Client]:
    async with serving(shop.app) as client:
        yield client


@pytest.mark.parametrize("mistake", _REQUESTS)
async def test_mistakes_over_http(mistake: str, client: Client) -> None:
    method, path, body, status, words = _REQUESTS[mistake]
    answer = await client.ask(method, path, body, **({"Content_Type": "application/json"} if body else {}))
    assert answer.status == status, answer
    assert re.search(words, answer.json["detail"]), answer.json
